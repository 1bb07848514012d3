import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { EmbeddedDurability } from './durability.ts'
import { embeddedErrors } from '../errors.ts'
import { replaceFile } from './atomic-file.ts'
import { encodeFileHeader, encodeFrame, FILE_HEADER_BYTES, FRAME_PAYLOAD_BYTES_MAX } from './frame-codec.ts'
import type { FileKind } from './frame-codec.ts'
import { scanFrames } from './frame-scan.ts'
import type { ScannedFrame } from './frame-scan.ts'

/** A file of frames, open for appending by its one writer. */
export interface FramedFile {
  readonly path: string
  /** Bytes of whole frames, header included. */
  readonly size: number
  /** The device and inode opened, to find out whether the path still names this file. */
  readonly inode: bigint
  /** Writes one frame and confirms it as the durability says. Never called twice at a time: a frame follows a confirmed one. */
  append(payload: Uint8Array): Promise<void>
  close(): Promise<void>
}

/** Creates a file that holds a header and optional frames; it appears under its name whole or not at all. */
export async function createFramedFile(
  path: string,
  kind: FileKind,
  durability: EmbeddedDurability,
  payloads: Iterable<Uint8Array> = [],
): Promise<void> {
  const salt = randomBytes(16)
  await replaceFile(path, durability, async (write) => {
    await write(encodeFileHeader(kind, salt))
    let sequence = 0n
    for (const payload of payloads) {
      await write(encodeFrame(payload, sequence, salt))
      sequence += 1n
    }
  })
}

/**
 * Opens a file for appending: reads every frame, cuts off a torn tail, refuses damage.
 *
 * @throws {TidemarkError} TM_EMBEDDED_DAMAGED, TM_EMBEDDED_IO_FAILED
 */
export async function openFramedFile(
  path: string,
  kind: FileKind,
  durability: EmbeddedDurability,
  onFrame: (frame: ScannedFrame) => void,
): Promise<FramedFile> {
  const handle = await open(path, 'r+').catch((cause: unknown) => {
    throw ioFailed('opening', path, cause)
  })
  try {
    const scanned = await scanFrames(handle, path, kind, onFrame)
    if (scanned.torn) {
      await handle.truncate(scanned.end)
      if (durability === 'fsync') await handle.sync()
    }
    const { ino } = await handle.stat({ bigint: true })
    return framedFile(handle, { path, durability, salt: scanned.salt, inode: ino }, scanned.end, scanned.frameCount)
  } catch (error) {
    await handle.close()
    throw error
  }
}

interface Identity {
  readonly path: string
  readonly durability: EmbeddedDurability
  readonly salt: Buffer
  readonly inode: bigint
}

function framedFile(handle: FileHandle, identity: Identity, end: number, frameCount: bigint): FramedFile {
  const { path, durability, salt, inode } = identity
  let size = Math.max(end, FILE_HEADER_BYTES)
  let sequence = frameCount
  let failure: Error | undefined
  return {
    path,
    inode,
    get size() {
      return size
    },
    async append(payload) {
      // After a failed write nobody knows what stands at the end, so the file takes nothing until it is opened again.
      if (failure !== undefined) throw failure
      if (payload.byteLength > FRAME_PAYLOAD_BYTES_MAX) {
        const reason = `a frame of ${payload.byteLength} bytes is over the limit of ${FRAME_PAYLOAD_BYTES_MAX}`
        throw embeddedErrors.create('TM_EMBEDDED_IO_FAILED', { what: 'writing', file: path, reason })
      }
      try {
        const frame = encodeFrame(payload, sequence, salt)
        await writeAll(handle, frame, size)
        if (durability === 'fsync') await handle.datasync()
        size += frame.byteLength
        sequence += 1n
      } catch (cause) {
        failure = ioFailed('writing', path, cause)
        throw failure
      }
    },
    close: () => handle.close(),
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer, position: number): Promise<void> {
  let written = 0
  while (written < bytes.byteLength) {
    const { bytesWritten } = await handle.write(bytes, written, bytes.byteLength - written, position + written)
    written += bytesWritten
  }
}

/** The error of a failed file operation, with the system's own words. */
export function ioFailed(what: string, file: string, cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return embeddedErrors.create('TM_EMBEDDED_IO_FAILED', { what, file, reason }, { cause })
}
