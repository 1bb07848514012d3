import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Offset } from '@tidemark/core'
import { decodeFileHeader, FILE_HEADER_BYTES, FRAME_HEADER_BYTES, readFrame } from '../files/frame-codec.ts'
import { readAt } from '../files/frame-scan.ts'
import { decodeHead } from './batch-codec.ts'
import type { EntryHead, LogEntry } from './batch-codec.ts'
import { segmentFile } from './log-layout.ts'
import { listSegments, segmentOf } from './segment-list.ts'

/** The next entry of a partition's segments. */
export type EntryReading =
  | { readonly kind: 'entry'; readonly head: EntryHead & { readonly kind: LogEntry['kind'] }; readonly payload: Buffer }
  /** The files end before the entry that is due; whoever knows the bounds knows whether one is. */
  | { readonly kind: 'short'; readonly file: string; readonly position: number; readonly reason: string }

/** Reads entries one after another, from the one that holds an offset on. */
export interface SegmentReader {
  /** The offset the next entry begins at. */
  readonly offset: Offset
  /** The next entry, without going past it. */
  peek(): Promise<EntryReading>
  /** Goes past the entry that was peeked. */
  take(): void
  close(): Promise<void>
}

const chunkBytes = 256 * 1024

/** A reader at the start of the segment that holds an offset; entries below it come first. */
export async function openSegmentReader(directory: string, from: Offset): Promise<SegmentReader> {
  const base = segmentOf(await listSegments(directory), from) ?? from
  let file = segmentFile(directory, base)
  let handle: FileHandle | undefined
  let salt: Buffer = Buffer.alloc(0)
  let chunk: Buffer = Buffer.alloc(0)
  let chunkStart = 0
  let at = 0
  let sequence = 0n
  let offset = base as Offset
  let peeked: { readonly end: number; readonly offset: Offset } | undefined

  const short = (reason: string): EntryReading => ({ kind: 'short', file, position: chunkStart + at, reason })
  const openFile = async (path: string): Promise<EntryReading | undefined> => {
    const opened = await open(path, 'r').catch(() => undefined)
    file = path
    if (opened === undefined) return short('the segment is missing')
    await handle?.close()
    handle = opened
    const header = decodeFileHeader('segment', await readAt(opened, 0, FILE_HEADER_BYTES))
    if (header.kind !== 'header') return short(header.kind === 'invalid' ? header.reason : `format ${header.found}`)
    salt = header.salt
    chunk = Buffer.alloc(0)
    chunkStart = FILE_HEADER_BYTES
    at = 0
    sequence = 0n
    return undefined
  }
  const fill = async (bytes: number): Promise<void> => {
    const start = chunkStart + at
    chunk = await readAt(handle!, start, Math.max(chunkBytes, bytes))
    chunkStart = start
    at = 0
  }
  const peek = async (): Promise<EntryReading> => {
    if (handle === undefined) {
      const failed = await openFile(file)
      if (failed !== undefined) return failed
    }
    let reading = readFrame(chunk, at, sequence, salt)
    // A chunk may have been read while this frame was being written, so whatever is not whole is read again; twice,
    // because only a header tells how long its frame is.
    for (let tries = 0; reading.kind !== 'frame' && tries < 2; tries += 1) {
      await fill(reading.kind === 'incomplete' ? reading.bytesNeeded : FRAME_HEADER_BYTES)
      reading = readFrame(chunk, at, sequence, salt)
    }
    if (reading.kind === 'incomplete') {
      // Appends roll to a new segment named by its first offset; at the very end there is none.
      const next = segmentFile(directory, offset)
      if (chunk.length > at || next === file) return short('the file ends there')
      const failed = await openFile(next)
      return failed ?? (await peek())
    }
    if (reading.kind !== 'frame') {
      return short(reading.kind === 'header-damaged' ? reading.reason : 'a frame fails its checksum')
    }
    const head = decodeHead(reading.payload)
    if (head === undefined || head.baseOffset !== offset) return short(`no entry of offset ${offset} stands there`)
    peeked = { end: reading.end, offset: (offset + BigInt(head.offsetCount)) as Offset }
    return { kind: 'entry', head, payload: reading.payload }
  }
  return {
    get offset() {
      return offset
    },
    peek,
    take() {
      if (peeked === undefined) return
      at = peeked.end
      offset = peeked.offset
      sequence += 1n
      peeked = undefined
    },
    async close() {
      await handle?.close()
      handle = undefined
    },
  }
}
