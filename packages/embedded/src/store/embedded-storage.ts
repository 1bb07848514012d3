import { randomBytes } from 'node:crypto'
import { mkdir, stat } from 'node:fs/promises'
import { checkLimit } from '@tidemark/core'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import { applyWrites } from '@tidemark/checkpoint/memory'
import type { KeyspaceStep, MemoryData } from '@tidemark/checkpoint/memory'
import { embeddedErrors } from '../errors.ts'
import { acquireDirectoryLock } from '../files/directory-lock.ts'
import type { DirectoryLock } from '../files/directory-lock.ts'
import { FRAME_PAYLOAD_BYTES_MAX } from '../files/frame-codec.ts'
import { ioFailed } from '../files/framed-file.ts'
import type { EmbeddedDurability } from '../files/framed-file.ts'
import { STORAGE_LOCK } from './generation-files.ts'
import { loadKeyspace, startGeneration } from './keyspace-files.ts'
import type { KeyspaceFiles } from './keyspace-files.ts'
import { encodeWrites, joinSteps } from './write-codec.ts'

/** How to open a storage directory. */
export interface EmbeddedStorageOptions {
  /** A directory of its own; created when absent. */
  readonly directory: string
  readonly durability: EmbeddedDurability
  /** When the journal has grown this much, and as much as its snapshot, both become a new snapshot. */
  readonly compactAtBytes?: number
}

/** A directory of projected data, opened by its one writer; stores and readers work on it. */
export interface EmbeddedStorage {
  readonly directory: string
  readonly durability: EmbeddedDurability
  /** Which opening of the directory this is. */
  readonly process: string
  /** The keyspace. Only {@link step} changes it. */
  readonly data: MemoryData
  /**
   * Decides over the keyspace and makes the decision's writes durable, all or none.
   *
   * Steps asked for meanwhile share one frame and one sync.
   */
  step<Outcome>(decide: (data: MemoryData) => KeyspaceStep<Outcome>): Promise<Outcome>
  /** Waits until everything decided is on disk, and proves that the files and the lock are still this writer's. */
  settle(): Promise<void>
  close(): Promise<void>
}

const groupBytesMax = 8 * 1024 * 1024
/** The largest step in its stored form; joined groups stay below the largest frame. */
const stepBytesMax = FRAME_PAYLOAD_BYTES_MAX - groupBytesMax - 1024

/**
 * Opens a storage directory for writing, or refuses it.
 *
 * Cost: reads the whole snapshot and journal; the data lives in memory while open.
 * Promises: EMB-1 to EMB-8.
 * @throws {TidemarkError} TM_EMBEDDED_LOCKED, TM_EMBEDDED_DAMAGED, TM_EMBEDDED_FORMAT_UNKNOWN,
 *   TM_EMBEDDED_DIRECTORY_FOREIGN, TM_EMBEDDED_IO_FAILED
 */
export async function createEmbeddedStorage(options: EmbeddedStorageOptions): Promise<EmbeddedStorage> {
  const { directory, durability } = options
  requireDurability(durability)
  const compactAtBytes = checkLimit('compactAtBytes', options.compactAtBytes ?? 64 * 1024 * 1024, {
    min: 1024,
    max: 2 ** 40,
  })
  await mkdir(directory, { recursive: true }).catch((cause: unknown) => {
    throw ioFailed('creating', directory, cause)
  })
  const lock = acquireDirectoryLock(directory, STORAGE_LOCK)
  try {
    const files = await loadKeyspace(directory, durability)
    return openedStorage(directory, durability, compactAtBytes, lock, files)
  } catch (error) {
    lock.release()
    throw error
  }
}

/** Refuses what is not a durability before anything is opened. */
export function requireDurability(durability: EmbeddedDurability): void {
  if (durability === 'fsync' || durability === 'server') return
  const reason = `"${String(durability)}" is neither "fsync" nor "server"`
  throw embeddedErrors.create('TM_EMBEDDED_OPTION_INVALID', { option: 'durability', reason })
}

interface WaitingStep {
  readonly text: string
  readonly settle: (failure: unknown) => void
}

function openedStorage(
  directory: string,
  durability: EmbeddedDurability,
  compactAtBytes: number,
  lock: DirectoryLock,
  opened: KeyspaceFiles,
): EmbeddedStorage {
  let files = opened
  let failure: unknown
  let waiting: WaitingStep[] = []
  let flushing: Promise<void> | undefined
  let compacting = false

  const proveOwnership = async (): Promise<void> => {
    lock.verify()
    const { path, inode, size } = files.journal
    const found = await stat(path, { bigint: true }).catch((cause: unknown) => {
      const reason = cause instanceof Error ? cause.message : String(cause)
      throw embeddedErrors.create('TM_EMBEDDED_STORAGE_REPLACED', { file: path, reason }, { cause })
    })
    if (found.ino === inode && found.size === BigInt(size)) return
    const reason = found.ino === inode ? `it has ${found.size} bytes, not ${size}` : 'another file has its name'
    throw embeddedErrors.create('TM_EMBEDDED_STORAGE_REPLACED', { file: path, reason })
  }
  const compact = async (): Promise<void> => {
    const { journal, generation, data } = files
    files = await startGeneration(directory, generation + 1, data, durability)
    await journal.close()
  }
  const flushGroup = async (group: readonly WaitingStep[]): Promise<void> => {
    try {
      await proveOwnership()
      await files.journal.append(joinSteps(group.map((each) => each.text)))
      // New steps wait from here on; those already decided are written before the keyspace is.
      if (files.journal.size >= Math.max(compactAtBytes, files.snapshotBytes)) compacting = true
    } catch (error) {
      // What is in memory is ahead of the disk from here on, so nothing more is served or written.
      failure = error
    }
    for (const each of group) each.settle(failure)
  }
  const flush = async (): Promise<void> => {
    // Lets the steps of one turn of the event loop gather in one group.
    await Promise.resolve()
    while (failure === undefined && (waiting.length > 0 || compacting)) {
      const group = takeGroup(waiting)
      waiting = waiting.slice(group.length)
      if (group.length > 0) await flushGroup(group)
      else
        await compact()
          .catch((error: unknown) => (failure = error))
          .finally(() => (compacting = false))
    }
    for (const each of waiting) each.settle(failure)
    waiting = []
    compacting = false
    // Cleared in the same turn that found nothing waiting, so that no later step waits for a flush that has ended.
    flushing = undefined
  }
  const submit = (text: string): Promise<void> =>
    new Promise((resolve, reject) => {
      waiting.push({ text, settle: (error) => (error === undefined ? resolve() : reject(error)) })
      flushing ??= flush()
    })
  const requireUsable = (): void => {
    if (failure !== undefined) throw failure
  }
  return {
    directory,
    durability,
    process: randomBytes(16).toString('hex'),
    get data() {
      requireUsable()
      return files.data
    },
    async step(decide) {
      while (compacting) await flushing
      requireUsable()
      const { outcome, writes } = decide(files.data)
      if (writes.length === 0) return outcome
      const text = encodeStep(writes)
      applyWrites(files.data, writes)
      await submit(text)
      return outcome
    },
    async settle() {
      while (flushing !== undefined) await flushing
      requireUsable()
      await proveOwnership().catch((error: unknown) => {
        failure ??= error
        throw error
      })
    },
    async close() {
      while (flushing !== undefined) await flushing
      if (failure === closedError) return
      failure = closedError
      await files.journal.close()
      lock.release()
    },
  }
}

const closedError: Error = embeddedErrors.create('TM_EMBEDDED_CLOSED', { what: 'the embedded storage' })

function takeGroup(waiting: readonly WaitingStep[]): readonly WaitingStep[] {
  let bytes = 0
  let count = 0
  while (count < waiting.length && (count === 0 || bytes < groupBytesMax)) {
    bytes += waiting[count]!.text.length
    if (count > 0 && bytes > groupBytesMax) break
    count += 1
  }
  return waiting.slice(0, count)
}

function encodeStep(writes: readonly ProjectionWrite[]): string {
  const text = encodeWrites(writes)
  const bytes = Buffer.byteLength(text)
  if (bytes <= stepBytesMax) return text
  throw embeddedErrors.create('TM_EMBEDDED_STEP_TOO_LARGE', { bytes, bytesMax: stepBytesMax })
}
