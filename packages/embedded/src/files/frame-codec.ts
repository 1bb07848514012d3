import { crc32 } from 'node:zlib'

/**
 * How every file of this package is built: a file header, then frames, each whole or not there.
 *
 * Shape: file header 32 bytes (magic 8, kind 4, salt 16, crc 4); frame header 20 bytes (length 4, payload crc 4,
 * sequence 8, header crc 4), then the payload. The salt is random per file, so that a payload that holds a copy of some
 * other file never looks like a frame of this one. The header has its own crc, so that a length can be trusted and a
 * torn last frame is told from damage in the middle.
 */
export const FILE_HEADER_BYTES = 32
/** The bytes before every payload. */
export const FRAME_HEADER_BYTES = 20
/** The largest payload; a longer length is damage, not a reason to allocate. */
export const FRAME_PAYLOAD_BYTES_MAX: number = 64 * 1024 * 1024

const magic = Buffer.from('TMEMBED1', 'latin1')

/** What a file holds; a file of one kind is never read as another. */
export type FileKind = 'journal' | 'snapshot' | 'segment' | 'decisions' | 'aborted'

const kindNumbers: Readonly<Record<FileKind, number>> = {
  journal: 1,
  snapshot: 2,
  segment: 3,
  decisions: 4,
  aborted: 5,
}

/** What stands at the start of a file. */
export type FileHeaderReading =
  | { readonly kind: 'header'; readonly salt: Buffer }
  | { readonly kind: 'invalid'; readonly reason: string }
  | { readonly kind: 'other-format'; readonly found: string }

/** The first bytes of a file. */
export function encodeFileHeader(kind: FileKind, salt: Buffer): Buffer {
  const header = Buffer.alloc(FILE_HEADER_BYTES)
  magic.copy(header, 0)
  header.writeUInt32BE(kindNumbers[kind], 8)
  salt.copy(header, 12, 0, 16)
  header.writeUInt32BE(crc32(header.subarray(0, 28)), 28)
  return header
}

/** What the first bytes of a file say. */
export function decodeFileHeader(kind: FileKind, bytes: Buffer): FileHeaderReading {
  if (bytes.length === 0) return { kind: 'invalid', reason: 'the file is empty' }
  if (bytes.length < FILE_HEADER_BYTES) return { kind: 'invalid', reason: `the file has ${bytes.length} bytes only` }
  const found = bytes.subarray(0, 8)
  if (!found.equals(magic)) {
    const ours = found.subarray(0, 7).equals(magic.subarray(0, 7))
    if (ours) return { kind: 'other-format', found: found.toString('latin1') }
    return { kind: 'invalid', reason: 'it does not start as a file of this package' }
  }
  if (crc32(bytes.subarray(0, 28)) !== bytes.readUInt32BE(28))
    return { kind: 'invalid', reason: 'its header is damaged' }
  if (bytes.readUInt32BE(8) !== kindNumbers[kind]) return { kind: 'invalid', reason: `it is not a ${kind} file` }
  return { kind: 'header', salt: Buffer.from(bytes.subarray(12, 28)) }
}

/** A frame ready to be written. Cost: one copy and one checksum of the payload. */
export function encodeFrame(payload: Uint8Array, sequence: bigint, salt: Buffer): Buffer {
  const frame = Buffer.allocUnsafe(FRAME_HEADER_BYTES + payload.byteLength)
  frame.writeUInt32BE(payload.byteLength, 0)
  frame.writeUInt32BE(crc32(payload, crc32(salt)), 4)
  frame.writeBigUInt64BE(sequence, 8)
  frame.writeUInt32BE(crc32(frame.subarray(0, 16), crc32(salt)), 16)
  frame.set(payload, FRAME_HEADER_BYTES)
  return frame
}

/** What stands at a place in a buffer of frames. */
export type FrameReading =
  | { readonly kind: 'frame'; readonly payload: Buffer; readonly end: number }
  /** The buffer ends inside the frame: read on, and if the file ends there too, the frame is torn. */
  | { readonly kind: 'incomplete'; readonly bytesNeeded: number }
  /** The header holds, the payload does not; a torn last frame looks like this when the file was grown first. */
  | { readonly kind: 'payload-damaged'; readonly end: number }
  | { readonly kind: 'header-damaged'; readonly reason: string }

/** What stands at a place; nothing is copied. */
export function readFrame(bytes: Buffer, start: number, sequence: bigint, salt: Buffer): FrameReading {
  if (bytes.length - start < FRAME_HEADER_BYTES) return { kind: 'incomplete', bytesNeeded: FRAME_HEADER_BYTES }
  const header = bytes.subarray(start, start + FRAME_HEADER_BYTES)
  if (crc32(header.subarray(0, 16), crc32(salt)) !== header.readUInt32BE(16)) {
    return { kind: 'header-damaged', reason: 'no frame header stands there' }
  }
  const found = header.readBigUInt64BE(8)
  if (found !== sequence) return { kind: 'header-damaged', reason: `frame ${found} stands where ${sequence} is due` }
  const length = header.readUInt32BE(0)
  if (length > FRAME_PAYLOAD_BYTES_MAX) return { kind: 'header-damaged', reason: `a frame of ${length} bytes` }
  const end = start + FRAME_HEADER_BYTES + length
  if (end > bytes.length) return { kind: 'incomplete', bytesNeeded: FRAME_HEADER_BYTES + length }
  const payload = bytes.subarray(start + FRAME_HEADER_BYTES, end)
  if (crc32(payload, crc32(salt)) !== header.readUInt32BE(4)) return { kind: 'payload-damaged', end }
  return { kind: 'frame', payload, end }
}

/**
 * Whether what follows the last whole frame is a write that was cut off, rather than damage.
 *
 * Cut off is: less than a header; a header followed by less than its payload; a last payload that did not reach the
 * disk; or zeros where the rest belongs, as a file system leaves them when it grew the file first. A frame is
 * written only after the one before it was confirmed, so nothing whole can follow a torn one.
 */
export function isTornTail(rest: Buffer, sequence: bigint, salt: Buffer): boolean {
  const reading = readFrame(rest, 0, sequence, salt)
  if (reading.kind === 'incomplete') return true
  if (reading.kind === 'payload-damaged') return isZero(rest.subarray(reading.end))
  return reading.kind === 'header-damaged' && isZero(rest.subarray(FRAME_HEADER_BYTES - 1))
}

function isZero(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0)
}
