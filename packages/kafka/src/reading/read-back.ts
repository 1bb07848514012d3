import { systemClock } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { LogReader, PartitionBatch, ReadBack, ReadBackRequest } from '@tidemark/log'
import type { ClientTuning } from './safe-consumer-options.ts'

/** Opens a reader for one round of reading back. */
export type OpenReader = (request: {
  readonly topic: string
  readonly positions: readonly { readonly partition: number; readonly nextOffset: Offset }[]
  readonly deadlineMs: number
}) => Promise<LogReader>

/** One record a partition is wanted, so fetching much of each of thousands of partitions would be waste. */
export const READ_BACK_TUNING: ClientTuning = {
  'fetch.message.max.bytes': 65_536,
  'queued.max.messages.kbytes': 16_384,
}

/** How long one poll of a read-back waits for something to arrive. */
const POLL_WAIT_MS = 200

interface Wanted {
  readonly partition: number
  readonly offset: Offset
}

/**
 * Reads single committed records: each partition is read from the wanted offset until its first record or its end.
 *
 * A first record above the offset, or an end without any, proves that nothing committed stands there. Whatever is not
 * proven by the deadline is `unreadable`. Promises: KAF-10.
 */
export async function readBackRecords(request: ReadBackRequest, open: OpenReader): Promise<readonly ReadBack[]> {
  const until = systemClock.monotonicMs() + request.deadlineMs
  const answers: ReadBack[] = []
  for (const round of roundsOf(request.records)) {
    answers.push(...(await readRound(request, round, until, open)))
  }
  return answers
}

/** A client reads one position of a partition at a time, so several offsets of one partition take several rounds. */
function roundsOf(records: readonly Wanted[]): readonly (readonly Wanted[])[] {
  const rounds: Map<number, Wanted>[] = []
  for (const wanted of records) {
    let round = rounds.find((candidate) => !candidate.has(wanted.partition))
    if (round === undefined) rounds.push((round = new Map()))
    round.set(wanted.partition, wanted)
  }
  return rounds.map((round) => [...round.values()])
}

async function readRound(
  request: ReadBackRequest,
  round: readonly Wanted[],
  until: number,
  open: OpenReader,
): Promise<readonly ReadBack[]> {
  const remainingMs = (): number => until - systemClock.monotonicMs()
  const pending = new Map(round.map((wanted) => [wanted.partition, wanted]))
  const answers: ReadBack[] = []
  const giveUp = (message: string): readonly ReadBack[] => {
    for (const { partition, offset } of pending.values())
      answers.push({ kind: 'unreadable', partition, offset, message })
    return answers
  }
  if (remainingMs() <= 0) return giveUp('the deadline passed before the read began')
  const positions = round.map(({ partition, offset }) => ({ partition, nextOffset: offset }))
  const reader = await open({ topic: request.topic, positions, deadlineMs: remainingMs() })
  try {
    while (pending.size > 0) {
      if (request.signal?.aborted === true) return giveUp('cancelled')
      if (remainingMs() <= 0) return giveUp(`no record and no end within ${request.deadlineMs} ms`)
      const result = await reader.poll({
        recordsMax: 10_000,
        waitMs: Math.min(POLL_WAIT_MS, Math.max(0, remainingMs())),
      })
      if (result.kind === 'failed') return giveUp(`${result.failure.reason}: ${result.failure.message}`)
      const done: number[] = []
      for (const batch of result.batches) {
        const wanted = pending.get(batch.partition)
        const answer = wanted === undefined ? undefined : answerOf(wanted, batch)
        if (answer === undefined) continue
        answers.push(answer)
        pending.delete(batch.partition)
        done.push(batch.partition)
      }
      if (done.length > 0 && pending.size > 0) reader.pause(done)
    }
    return answers
  } finally {
    await reader.close()
  }
}

/** What a batch proves about the wanted offset, or `undefined` when it proves nothing yet. */
function answerOf({ partition, offset }: Wanted, batch: PartitionBatch): ReadBack | undefined {
  const first = batch.records[0]
  if (first?.offset === offset) return { kind: 'record', partition, offset, record: first }
  if (first !== undefined || batch.endOffset !== undefined) return { kind: 'absent', partition, offset }
  return undefined
}
