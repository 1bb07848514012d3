import { open, rm } from 'node:fs/promises'
import type { Offset } from '@tidemark/core'
import { scanFrames } from '../files/frame-scan.ts'
import { createFramedFile } from '../files/framed-file.ts'
import type { EmbeddedDurability } from '../files/durability.ts'
import { decodeHead, decodeRecords, encodeBatch, encodeMarker } from '../log/batch-codec.ts'
import { segmentFile } from '../log/log-layout.ts'
import { listSegments, segmentOf } from '../log/segment-list.ts'

/**
 * Removes everything at and above an offset from a partition's segments; a batch across it keeps its first records.
 *
 * May be repeated after a crash midway. Order: later segments go first, so that what remains is always one run.
 */
export async function cutSegments(directory: string, durability: EmbeddedDurability, end: Offset): Promise<void> {
  const bases = await listSegments(directory)
  const holder = segmentOf(bases, end)
  for (const base of bases.toReversed()) {
    if (holder === undefined || base > holder) await rm(segmentFile(directory, base), { force: true })
  }
  if (holder === undefined) {
    await createFramedFile(segmentFile(directory, end), 'segment', durability)
    return
  }
  const path = segmentFile(directory, holder)
  const kept: Buffer[] = []
  const handle = await open(path, 'r')
  try {
    await scanFrames(handle, path, 'segment', (frame) => {
      const cut = cutEntry(frame.payload, end)
      if (cut !== undefined) kept.push(cut)
    })
  } finally {
    await handle.close()
  }
  await createFramedFile(path, 'segment', durability, kept)
}

/** What of an entry stands below an offset. */
function cutEntry(payload: Buffer, end: Offset): Buffer | undefined {
  const head = decodeHead(payload)
  if (head === undefined || head.baseOffset >= end) return undefined
  if (head.baseOffset + BigInt(head.offsetCount) <= end) return Buffer.from(payload)
  const shorter = { ...head, offsetCount: Number(end - head.baseOffset) }
  if (head.kind !== 'batch') return encodeMarker(head.kind, shorter)
  return encodeBatch(shorter, decodeRecords(payload, head, 0)!.slice(0, shorter.offsetCount))
}
