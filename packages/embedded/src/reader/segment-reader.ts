import { open } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import type { Offset } from '@tidemark/core'
import { decodeFileHeader, FILE_HEADER_BYTES, FRAME_HEADER_BYTES, readFrame } from '../files/frame-codec.ts'
import type { FrameReading } from '../files/frame-codec.ts'
import { readAt } from '../files/frame-scan.ts'
import { decodeHead } from '../log/batch-codec.ts'
import type { EntryHead, LogEntry } from '../log/batch-codec.ts'
import { segmentFile } from '../log/log-layout.ts'
import { listSegments, segmentOf } from '../log/segment-list.ts'

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
  return new OpenSegmentReader(directory, segmentOf(await listSegments(directory), from) ?? from)
}

class OpenSegmentReader implements SegmentReader {
  readonly #directory: string
  #file: string
  #handle: FileHandle | undefined
  #salt: Buffer = Buffer.alloc(0)
  #chunk: Buffer = Buffer.alloc(0)
  #chunkStart = 0
  #at = 0
  #sequence = 0n
  #offset: Offset
  #peeked: { readonly end: number; readonly offset: Offset } | undefined

  constructor(directory: string, base: bigint) {
    this.#directory = directory
    this.#file = segmentFile(directory, base)
    this.#offset = base as Offset
  }

  get offset(): Offset {
    return this.#offset
  }

  async peek(): Promise<EntryReading> {
    if (this.#handle === undefined) {
      const failed = await this.#open(this.#file)
      if (failed !== undefined) return failed
    }
    const reading = await this.#readFrame()
    if (reading.kind === 'incomplete') {
      // Appends roll to a new segment named by its first offset; at the very end there is none.
      const next = segmentFile(this.#directory, this.#offset)
      if (this.#chunk.length > this.#at || next === this.#file) return this.#short('the file ends there')
      return (await this.#open(next)) ?? (await this.peek())
    }
    if (reading.kind !== 'frame') {
      return this.#short(reading.kind === 'header-damaged' ? reading.reason : 'a frame fails its checksum')
    }
    const head = decodeHead(reading.payload)
    if (head === undefined || head.baseOffset !== this.#offset) {
      return this.#short(`no entry of offset ${this.#offset} stands there`)
    }
    this.#peeked = { end: reading.end, offset: (this.#offset + BigInt(head.offsetCount)) as Offset }
    return { kind: 'entry', head, payload: reading.payload }
  }

  take(): void {
    if (this.#peeked === undefined) return
    this.#at = this.#peeked.end
    this.#offset = this.#peeked.offset
    this.#sequence += 1n
    this.#peeked = undefined
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = undefined
  }

  async #readFrame(): Promise<FrameReading> {
    let reading = readFrame(this.#chunk, this.#at, this.#sequence, this.#salt)
    // A chunk may have been read while this frame was being written, so whatever is not whole is read again; twice,
    // because only a header tells how long its frame is.
    for (let tries = 0; reading.kind !== 'frame' && tries < 2; tries += 1) {
      const bytes = reading.kind === 'incomplete' ? reading.bytesNeeded : FRAME_HEADER_BYTES
      this.#chunkStart += this.#at
      this.#at = 0
      this.#chunk = await readAt(this.#handle!, this.#chunkStart, Math.max(chunkBytes, bytes))
      reading = readFrame(this.#chunk, this.#at, this.#sequence, this.#salt)
    }
    return reading
  }

  async #open(path: string): Promise<EntryReading | undefined> {
    this.#file = path
    const opened = await open(path, 'r').catch(() => undefined)
    if (opened === undefined) return this.#short('the segment is missing')
    await this.#handle?.close()
    this.#handle = opened
    const header = decodeFileHeader('segment', await readAt(opened, 0, FILE_HEADER_BYTES))
    if (header.kind !== 'header') {
      return this.#short(header.kind === 'invalid' ? header.reason : `it has the format ${header.found}`)
    }
    this.#salt = header.salt
    this.#chunk = Buffer.alloc(0)
    this.#chunkStart = FILE_HEADER_BYTES
    this.#at = 0
    this.#sequence = 0n
    return undefined
  }

  #short(reason: string): EntryReading {
    return { kind: 'short', file: this.#file, position: this.#chunkStart + this.#at, reason }
  }
}
