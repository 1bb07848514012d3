import type { FileHandle } from 'node:fs/promises'
import { embeddedErrors } from '../errors.ts'
import { decodeFileHeader, FILE_HEADER_BYTES, isTornTail, readFrame } from './frame-codec.ts'
import type { FileKind } from './frame-codec.ts'

/** Where the whole frames of a file end. */
export interface ScanEnd {
  readonly salt: Buffer
  /** The byte after the last whole frame. */
  readonly end: number
  /** How many frames there are: the sequence of the next one. */
  readonly frameCount: bigint
  /** True when a cut-off write follows. */
  readonly torn: boolean
}

/** One whole frame and where it stands. */
export interface ScannedFrame {
  readonly payload: Buffer
  readonly start: number
  readonly end: number
}

const chunkBytes = 1024 * 1024

/**
 * Reads every frame of a file in order. Memory: one chunk, or one frame where that is larger.
 *
 * @throws {TidemarkError} TM_EMBEDDED_DAMAGED naming file and byte for anything that is not a whole frame or a torn tail.
 */
export async function scanFrames(
  handle: FileHandle,
  file: string,
  kind: FileKind,
  onFrame: (frame: ScannedFrame) => void,
): Promise<ScanEnd> {
  const { size } = await handle.stat()
  const headerBytes = await readAt(handle, 0, Math.min(size, FILE_HEADER_BYTES))
  const header = decodeFileHeader(kind, headerBytes)
  if (header.kind === 'invalid') throw damaged(file, 0, header.reason)
  if (header.kind === 'other-format') {
    throw embeddedErrors.create('TM_EMBEDDED_FORMAT_UNKNOWN', { file, found: header.found })
  }
  const { salt } = header
  let sequence = 0n
  let position = FILE_HEADER_BYTES
  let wanted = chunkBytes
  while (position < size) {
    const bytes = await readAt(handle, position, Math.min(wanted, size - position))
    const taken = takeFrames(bytes, position, sequence, salt, onFrame)
    sequence = taken.sequence
    position = taken.position
    if (taken.stop === 'incomplete' && position + taken.bytesNeeded <= size) {
      wanted = Math.max(chunkBytes, taken.bytesNeeded)
      continue
    }
    if (taken.stop === 'end') continue
    const rest = await readAt(handle, position, size - position)
    if (!isTornTail(rest, sequence, salt)) throw damaged(file, position, taken.reason)
    return { salt, end: position, frameCount: sequence, torn: true }
  }
  return { salt, end: position, frameCount: sequence, torn: false }
}

interface Taken {
  readonly stop: 'end' | 'incomplete' | 'invalid'
  readonly position: number
  readonly sequence: bigint
  readonly bytesNeeded: number
  readonly reason: string
}

function takeFrames(
  bytes: Buffer,
  base: number,
  firstSequence: bigint,
  salt: Buffer,
  onFrame: (frame: ScannedFrame) => void,
): Taken {
  let at = 0
  let sequence = firstSequence
  while (at < bytes.length) {
    const reading = readFrame(bytes, at, sequence, salt)
    const here = { position: base + at, sequence, bytesNeeded: 0, reason: '' }
    if (reading.kind === 'incomplete') return { ...here, stop: 'incomplete', bytesNeeded: reading.bytesNeeded }
    if (reading.kind === 'payload-damaged') return { ...here, stop: 'invalid', reason: 'a frame fails its checksum' }
    if (reading.kind === 'header-damaged') return { ...here, stop: 'invalid', reason: reading.reason }
    onFrame({ payload: reading.payload, start: base + at, end: base + reading.end })
    at = reading.end
    sequence += 1n
  }
  return { stop: 'end', position: base + at, sequence, bytesNeeded: 0, reason: '' }
}

/** Reads exactly the bytes asked for, fewer only where the file ends. */
export async function readAt(handle: FileHandle, position: number, length: number): Promise<Buffer> {
  const buffer = Buffer.allocUnsafe(length)
  let filled = 0
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

function damaged(file: string, position: number, reason: string): Error {
  return embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file, position, reason })
}
