import { open, rm, stat } from 'node:fs/promises'
import { messageOf } from '@tidemark/core'
import { applyWrites, createMemoryData } from '@tidemark/checkpoint/memory'
import type { MemoryData } from '@tidemark/checkpoint/memory'
import { embeddedErrors } from '../errors.ts'
import { scanFrames } from '../files/frame-scan.ts'
import type { ScannedFrame } from '../files/frame-scan.ts'
import { createFramedFile, ioFailed, openFramedFile } from '../files/framed-file.ts'
import type { EmbeddedDurability } from '../files/durability.ts'
import type { FramedFile } from '../files/framed-file.ts'
import { journalPath, listGenerations, readGenerations, snapshotPath } from './generation-files.ts'
import { decodeWrites, dumpKeyspace } from './write-codec.ts'

/** A keyspace as it stands on disk, and the journal that takes its next steps. */
export interface KeyspaceFiles {
  readonly generation: number
  readonly data: MemoryData
  readonly journal: FramedFile
  /** How large the snapshot is; the journal may grow as large before both are rewritten. */
  readonly snapshotBytes: number
}

const snapshotChunkBytes = 1024 * 1024
const snapshotEnd = Buffer.from('{"end":true}', 'utf8')

/**
 * Reads the newest snapshot and every whole step after it; a directory without one becomes an empty keyspace.
 *
 * @throws {TidemarkError} TM_EMBEDDED_DAMAGED naming file and byte, TM_EMBEDDED_DIRECTORY_FOREIGN
 */
export async function loadKeyspace(directory: string, durability: EmbeddedDurability): Promise<KeyspaceFiles> {
  const found = await listGenerations(directory)
  const generation = found.snapshots.at(-1)
  if (generation === undefined) {
    for (const journal of found.journals) await requireUnused(journalPath(directory, journal))
    return startGeneration(directory, 1, createMemoryData(), durability)
  }
  // A journal is created before its snapshot, so one above the newest snapshot was never written to.
  for (const journal of found.journals) {
    if (journal > generation) await requireUnused(journalPath(directory, journal))
  }
  const data = createMemoryData()
  const snapshotBytes = await loadSnapshot(snapshotPath(directory, generation), data)
  const path = journalPath(directory, generation)
  if (!found.journals.includes(generation)) {
    const reason = 'the journal that belongs to the newest snapshot is missing'
    throw embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file: path, position: 0, reason })
  }
  const journal = await openFramedFile(path, 'journal', durability, (frame) => applyFrame(path, data, frame))
  await removeOthers(directory, generation)
  return { generation, data, journal, snapshotBytes }
}

/** How often a reader starts over because the writer began a new generation under it. */
const readAttemptsMax = 5

/**
 * The keyspace as it stands on disk now, read beside a writer: whole steps only, nothing changed.
 *
 * @throws {TidemarkError} TM_EMBEDDED_STORAGE_MISSING where no storage stands, TM_EMBEDDED_DAMAGED naming file and byte.
 */
export async function readKeyspaceFiles(directory: string): Promise<Pick<KeyspaceFiles, 'generation' | 'data'>> {
  for (let attempt = 1; ; attempt += 1) {
    const generation = (await readGenerations(directory)).snapshots.at(-1)
    if (generation === undefined) throw embeddedErrors.create('TM_EMBEDDED_STORAGE_MISSING', { directory })
    const data = createMemoryData()
    try {
      await loadSnapshot(snapshotPath(directory, generation), data)
      await readJournal(journalPath(directory, generation), data)
      return { generation, data }
    } catch (error) {
      // The writer removes a generation once a newer one is whole; what was being read of the old one is then gone.
      const replaced = (await readGenerations(directory)).snapshots.at(-1) !== generation
      if (!replaced || attempt === readAttemptsMax) throw error
    }
  }
}

async function readJournal(path: string, data: MemoryData): Promise<void> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    const reason = `the journal that belongs to the newest snapshot cannot be opened: ${messageOf(cause)}`
    throw embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file: path, position: 0, reason }, { cause })
  })
  try {
    // A last frame that is just being written looks like a torn one and is left out; the file is not touched.
    await scanFrames(handle, path, 'journal', (frame) => applyFrame(path, data, frame))
  } finally {
    await handle.close()
  }
}

/** Writes a keyspace as a new generation and removes the older ones. Peak disk use: both generations. */
export async function startGeneration(
  directory: string,
  generation: number,
  data: MemoryData,
  durability: EmbeddedDurability,
): Promise<KeyspaceFiles> {
  const path = journalPath(directory, generation)
  await createFramedFile(path, 'journal', durability)
  await createFramedFile(snapshotPath(directory, generation), 'snapshot', durability, snapshotFrames(data))
  const journal = await openFramedFile(path, 'journal', durability, () => undefined)
  await removeOthers(directory, generation)
  const { size } = await stat(snapshotPath(directory, generation))
  return { generation, data, journal, snapshotBytes: size }
}

function* snapshotFrames(data: MemoryData): Generator<Buffer> {
  yield* dumpKeyspace(data, snapshotChunkBytes)
  yield snapshotEnd
}

async function loadSnapshot(path: string, data: MemoryData): Promise<number> {
  const handle = await open(path, 'r').catch((cause: unknown) => {
    throw ioFailed('opening', path, cause)
  })
  try {
    let ended = false
    const end = await scanFrames(handle, path, 'snapshot', (frame) => {
      if (ended) throw damaged(path, frame.start, 'a frame stands after the end of the snapshot')
      if (frame.payload.equals(snapshotEnd)) ended = true
      else applyFrame(path, data, frame)
    })
    // A snapshot gets its name only when it is whole, so a cut-off one is damage and not a crash.
    if (end.torn || !ended) throw damaged(path, end.end, 'the snapshot is cut off or has bytes after its end')
    return end.end
  } finally {
    await handle.close()
  }
}

function applyFrame(path: string, data: MemoryData, frame: ScannedFrame): void {
  const writes = decodeWrites(frame.payload)
  if (writes === undefined) throw damaged(path, frame.start, 'a frame does not hold writes')
  try {
    applyWrites(data, writes)
  } catch (cause) {
    const reason = `its writes do not fit the data before: ${cause instanceof Error ? cause.message : String(cause)}`
    throw embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file: path, position: frame.start, reason }, { cause })
  }
}

async function requireUnused(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await scanFrames(handle, path, 'journal', (frame) => {
      throw damaged(path, frame.start, 'it holds steps, but the snapshot they follow is missing')
    })
  } finally {
    await handle.close()
  }
}

async function removeOthers(directory: string, generation: number): Promise<void> {
  const { snapshots, journals } = await listGenerations(directory)
  const old = (each: number): boolean => each !== generation
  for (const each of snapshots.filter(old)) await rm(snapshotPath(directory, each), { force: true })
  for (const each of journals.filter(old)) await rm(journalPath(directory, each), { force: true })
}

function damaged(file: string, position: number, reason: string): Error {
  return embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file, position, reason })
}
