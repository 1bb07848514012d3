import { randomBytes } from 'node:crypto'
import { mkdir, stat } from 'node:fs/promises'
import { checkLimit, messageOf } from '@tidemark/core'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import { applyWrites } from '@tidemark/checkpoint/memory'
import type { KeyspaceStep, MemoryData } from '@tidemark/checkpoint/memory'
import { embeddedErrors } from '../errors.ts'
import { acquireDirectoryLock } from '../files/directory-lock.ts'
import type { DirectoryLock } from '../files/directory-lock.ts'
import { FRAME_PAYLOAD_BYTES_MAX } from '../files/frame-codec.ts'
import { ioFailed } from '../files/framed-file.ts'
import { requireDurability } from '../files/durability.ts'
import type { EmbeddedDurability } from '../files/durability.ts'
import { snapshotPath, STORAGE_LOCK } from './generation-files.ts'
import { loadKeyspace, startGeneration } from './keyspace-files.ts'
import type { KeyspaceFiles } from './keyspace-files.ts'
import { removeSyncedMark, setSyncedMark } from './synced-mark.ts'
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
    const storage = new OpenStorage(options, compactAtBytes, lock, files)
    // A directory that holds something is left as it is until the first step: whoever is refused has changed nothing.
    if (files.data.values.size === 0) await storage.tellDurability()
    return storage
  } catch (error) {
    lock.release()
    throw error
  }
}

interface WaitingStep {
  readonly text: string
  readonly settle: (failure: Error | undefined) => void
}

class OpenStorage implements EmbeddedStorage {
  readonly directory: string
  readonly durability: EmbeddedDurability
  readonly process: string = randomBytes(16).toString('hex')
  readonly #compactAtBytes: number
  readonly #lock: DirectoryLock
  #files: KeyspaceFiles
  #failure: Error | undefined
  #waiting: WaitingStep[] = []
  #flushing: Promise<void> | undefined
  #compacting = false
  #durabilityTold = false

  constructor(options: EmbeddedStorageOptions, compactAtBytes: number, lock: DirectoryLock, files: KeyspaceFiles) {
    this.directory = options.directory
    this.durability = options.durability
    this.#compactAtBytes = compactAtBytes
    this.#lock = lock
    this.#files = files
  }

  get data(): MemoryData {
    this.#requireUsable()
    return this.#files.data
  }

  async step<Outcome>(decide: (data: MemoryData) => KeyspaceStep<Outcome>): Promise<Outcome> {
    while (this.#compacting) await this.#flushing
    this.#requireUsable()
    const { outcome, writes } = decide(this.#files.data)
    if (writes.length === 0) return outcome
    const text = encodeStep(writes)
    applyWrites(this.#files.data, writes)
    await this.#submit(text)
    return outcome
  }

  async settle(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
    this.#requireUsable()
    await this.#proveOwnership().catch((error: unknown) => {
      this.#failure ??= asError(error)
      throw error
    })
  }

  async close(): Promise<void> {
    while (this.#flushing !== undefined) await this.#flushing
    if (this.#failure === closedError) return
    this.#failure = closedError
    await this.#files.journal.close()
    this.#lock.release()
  }

  /** Makes the directory tell what its steps survive, before a weaker one and once every stronger one is on disk. */
  async tellDurability(): Promise<void> {
    if (this.#durabilityTold) return
    const { generation, journal } = this.#files
    if (this.durability === 'server') await removeSyncedMark(this.directory)
    else await setSyncedMark(this.directory, [snapshotPath(this.directory, generation), journal.path])
    this.#durabilityTold = true
  }

  #requireUsable(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  #submit(text: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ text, settle: (error) => (error === undefined ? resolve() : reject(error)) })
      this.#flushing ??= this.#flush()
    })
  }

  async #flush(): Promise<void> {
    // Lets the steps of one turn of the event loop gather in one group.
    await Promise.resolve()
    while (this.#failure === undefined && (this.#waiting.length > 0 || this.#compacting)) {
      const group = takeGroup(this.#waiting)
      this.#waiting = this.#waiting.slice(group.length)
      if (group.length > 0) await this.#flushGroup(group)
      else await this.#compact()
    }
    for (const each of this.#waiting) each.settle(this.#failure)
    this.#waiting = []
    this.#compacting = false
    // Cleared in the same turn that found nothing waiting, so that no later step waits for a flush that has ended.
    this.#flushing = undefined
  }

  async #flushGroup(group: readonly WaitingStep[]): Promise<void> {
    try {
      await this.#proveOwnership()
      await this.tellDurability()
      await this.#files.journal.append(joinSteps(group.map((each) => each.text)))
      // New steps wait from here on; those already decided are written before the keyspace is.
      const { journal, snapshotBytes } = this.#files
      if (journal.size >= Math.max(this.#compactAtBytes, snapshotBytes)) this.#compacting = true
    } catch (error) {
      // What is in memory is ahead of the disk from here on, so nothing more is served or written.
      this.#failure = asError(error)
    }
    for (const each of group) each.settle(this.#failure)
  }

  async #compact(): Promise<void> {
    const { journal, generation, data } = this.#files
    try {
      this.#files = await startGeneration(this.directory, generation + 1, data, this.durability)
      await journal.close()
    } catch (error) {
      this.#failure = asError(error)
    }
    this.#compacting = false
  }

  async #proveOwnership(): Promise<void> {
    this.#lock.verify()
    const { path, inode, size } = this.#files.journal
    const found = await stat(path, { bigint: true }).catch((cause: unknown) => {
      const reason = messageOf(cause)
      throw embeddedErrors.create('TM_EMBEDDED_STORAGE_REPLACED', { file: path, reason }, { cause })
    })
    if (found.ino === inode && found.size === BigInt(size)) return
    const reason = found.ino === inode ? `it has ${found.size} bytes, not ${size}` : 'another file has its name'
    throw embeddedErrors.create('TM_EMBEDDED_STORAGE_REPLACED', { file: path, reason })
  }
}

function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown), { cause: thrown })
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
