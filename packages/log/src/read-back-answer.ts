import { nextOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { ReadBack, ReadBackStretch } from './committed-log.ts'
import type { LogRecord } from './log-record.ts'
import { witnessOf } from './tail-witness.ts'

/**
 * What a read from the start of a stretch answers, or `undefined` while it has met neither a record nor the end.
 *
 * Shape: `first` is the first committed record at or above the stretch, `end` the read-committed end where that came first.
 * What reaches beyond that end is undecided: right after an election the stable end may stand before a marker that has long
 * been written. That a log ends before a record is for its bounds to say.
 */
export function answerReadBack(
  stretch: ReadBackStretch,
  first: LogRecord | undefined,
  end: Offset | undefined,
): ReadBack | undefined {
  const { offset, before } = stretch
  if (first !== undefined) {
    const isInside = before === undefined ? first.offset === offset : first.offset < before
    return isInside ? { kind: 'record', ...stretch, witness: witnessOf(first) } : { kind: 'absent', ...stretch }
  }
  if (end === undefined) return undefined
  if (end >= (before ?? nextOffset(offset))) return { kind: 'absent', ...stretch }
  return {
    kind: 'unreadable',
    ...stretch,
    message: `the committed end ${end} does not decide ${offset}..${before ?? offset}`,
  }
}
