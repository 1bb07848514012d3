import type { Offset } from '@tidemark/core'
import { embeddedErrors } from '../errors.ts'
import { openFramedFile } from '../files/framed-file.ts'
import type { EmbeddedDurability } from '../files/durability.ts'
import type { FramedFile } from '../files/framed-file.ts'
import type { ScannedFrame } from '../files/frame-scan.ts'
import { decodeHead, NO_TRANSACTION } from '../log/batch-codec.ts'
import type { TransactionId } from '../log/batch-codec.ts'
import { segmentFile } from '../log/log-layout.ts'
import { segmentOf } from '../log/segment-list.ts'

/** What a partition's segments hold from some offset on. */
export interface RecoveredTail {
  readonly end: Offset
  /** Transactions without a marker, with their first offset there. */
  readonly open: Map<TransactionId, Offset>
  /** The last segment, which takes the next entries. */
  readonly active: FramedFile
}

/**
 * Reads the segments from the one that holds an offset, cutting a torn tail off the last.
 *
 * Everything below the last stable offset has its markers, so scanning from there finds every open transaction.
 * @throws {TidemarkError} TM_EMBEDDED_DAMAGED for anything but a torn tail, a missing segment or a hole included.
 */
export async function recoverTail(
  directory: string,
  durability: EmbeddedDurability,
  bases: readonly bigint[],
  from: Offset,
): Promise<RecoveredTail> {
  const first = segmentOf(bases, from)
  if (first === undefined) {
    throw damaged(segmentFile(directory, from), 0, `no segment holds offset ${from}`)
  }
  const open = new Map<TransactionId, Offset>()
  let end = first
  let active: FramedFile | undefined
  try {
    for (const base of bases.filter((each) => each >= first)) {
      const path = segmentFile(directory, base)
      await active?.close()
      active = undefined
      if (base !== end) throw damaged(path, 0, `the segment begins at ${base}, but the one before ends at ${end}`)
      active = await openFramedFile(path, 'segment', durability, (frame) => {
        end = takeEntry(path, frame, end, open)
      })
    }
  } catch (error) {
    await active?.close()
    throw error
  }
  return { end: end as Offset, open, active: active! }
}

function takeEntry(path: string, frame: ScannedFrame, due: bigint, open: Map<TransactionId, Offset>): bigint {
  const head = decodeHead(frame.payload)
  if (head === undefined) throw damaged(path, frame.start, 'a frame does not hold a log entry')
  if (head.baseOffset !== due) throw damaged(path, frame.start, `offset ${head.baseOffset} stands where ${due} is due`)
  const { kind, transactionId } = head
  if (kind === 'commit' || kind === 'abort') open.delete(transactionId)
  else if (transactionId !== NO_TRANSACTION && !open.has(transactionId)) open.set(transactionId, head.baseOffset)
  return due + BigInt(head.offsetCount)
}

function damaged(file: string, position: number, reason: string): Error {
  return embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file, position, reason })
}
