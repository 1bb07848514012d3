import { crc32 } from 'node:zlib'
import type { Offset } from '@tidemark/core'

/**
 * What a partition's writer publishes to its readers, in one file they poll.
 *
 * Readers deliver nothing at or above `lastStableOffset`, so that what they see is confirmed and committed.
 */
export interface PublishedBounds {
  /** Rises with every publication; the newer of two slots is the one that counts. */
  readonly sequence: bigint
  readonly low: Offset
  readonly lastStableOffset: Offset
  readonly highWatermark: Offset
  readonly leaderEpoch: number
  /** How often the end was cut off, and where the last time: readers beyond it must not go on. */
  readonly truncations: number
  readonly truncatedTo: Offset
  /** True from before a cut until after it, so that a crash in between is finished and not undone. */
  readonly truncating: boolean
}

/** The bytes of one slot; a bounds file has two, written in turn, so that one is always whole. */
export const BOUNDS_SLOT_BYTES = 64
const contentBytes = 49

/** One slot. */
export function encodeBounds(bounds: PublishedBounds): Buffer {
  const slot = Buffer.alloc(BOUNDS_SLOT_BYTES)
  slot.writeBigUInt64BE(bounds.sequence, 0)
  slot.writeBigUInt64BE(bounds.low, 8)
  slot.writeBigUInt64BE(bounds.lastStableOffset, 16)
  slot.writeBigUInt64BE(bounds.highWatermark, 24)
  slot.writeInt32BE(bounds.leaderEpoch, 32)
  slot.writeUInt32BE(bounds.truncations, 36)
  slot.writeBigUInt64BE(bounds.truncatedTo, 40)
  slot.writeUInt8(bounds.truncating ? 1 : 0, 48)
  slot.writeUInt32BE(crc32(slot.subarray(0, contentBytes)), BOUNDS_SLOT_BYTES - 4)
  return slot
}

/** The newer whole slot of a bounds file, or `undefined` when there is none. */
export function decodeBoundsFile(bytes: Buffer): PublishedBounds | undefined {
  const slots = [0, BOUNDS_SLOT_BYTES].flatMap((at) => decodeSlot(bytes.subarray(at, at + BOUNDS_SLOT_BYTES)))
  return slots.reduce<PublishedBounds | undefined>(
    (newest, slot) => (newest === undefined || slot.sequence > newest.sequence ? slot : newest),
    undefined,
  )
}

/** Where the slot of a publication stands. */
export function boundsSlotPosition(sequence: bigint): number {
  return Number(sequence % 2n) * BOUNDS_SLOT_BYTES
}

function decodeSlot(slot: Buffer): readonly PublishedBounds[] {
  if (slot.length < BOUNDS_SLOT_BYTES) return []
  if (crc32(slot.subarray(0, contentBytes)) !== slot.readUInt32BE(BOUNDS_SLOT_BYTES - 4)) return []
  const bounds: PublishedBounds = {
    sequence: slot.readBigUInt64BE(0),
    low: slot.readBigUInt64BE(8) as Offset,
    lastStableOffset: slot.readBigUInt64BE(16) as Offset,
    highWatermark: slot.readBigUInt64BE(24) as Offset,
    leaderEpoch: slot.readInt32BE(32),
    truncations: slot.readUInt32BE(36),
    truncatedTo: slot.readBigUInt64BE(40) as Offset,
    truncating: slot.readUInt8(48) === 1,
  }
  // The checksum of a zeroed slot does not hold, but sequence 0 is never published either.
  return bounds.sequence === 0n ? [] : [bounds]
}
