import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { embeddedErrors } from '../errors.ts'
import { TEMPORARY_SUFFIX } from '../files/atomic-file.ts'
import { ioFailed } from '../files/framed-file.ts'
import { SYNCED_MARK } from './synced-mark.ts'

/** The lock file of a storage directory. */
export const STORAGE_LOCK = 'writer.lock'

/** What a storage directory holds: one snapshot and its journal, and what crashes left behind. */
export interface Generations {
  readonly snapshots: readonly number[]
  readonly journals: readonly number[]
}

/** The snapshot file of a generation. */
export function snapshotPath(directory: string, generation: number): string {
  return join(directory, `${String(generation).padStart(12, '0')}.snapshot`)
}

/** The journal file of a generation: every step since its snapshot. */
export function journalPath(directory: string, generation: number): string {
  return join(directory, `${String(generation).padStart(12, '0')}.journal`)
}

/**
 * Which generations a directory holds; half-written temporary files are removed on the way.
 *
 * @throws {TidemarkError} TM_EMBEDDED_DIRECTORY_FOREIGN when something else stands there.
 */
export async function listGenerations(directory: string): Promise<Generations> {
  const names = await readdir(directory)
  for (const name of names) {
    if (name.endsWith(TEMPORARY_SUFFIX)) await rm(join(directory, name), { force: true })
  }
  return generationsOf(directory, names)
}

/**
 * Which generations a directory holds, changing nothing; none where there is no directory.
 *
 * @throws {TidemarkError} TM_EMBEDDED_DIRECTORY_FOREIGN, TM_EMBEDDED_IO_FAILED
 */
export async function readGenerations(directory: string): Promise<Generations> {
  const names = await readdir(directory).catch((cause: unknown) => {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return [] as string[]
    throw ioFailed('reading', directory, cause)
  })
  return generationsOf(directory, names)
}

function generationsOf(directory: string, names: readonly string[]): Generations {
  const snapshots: number[] = []
  const journals: number[] = []
  for (const name of names.toSorted()) {
    const match = /^([0-9]{12})\.(snapshot|journal)$/.exec(name)
    if (match !== null) (match[2] === 'snapshot' ? snapshots : journals).push(Number(match[1]))
    else if (!name.endsWith(TEMPORARY_SUFFIX) && !name.startsWith(STORAGE_LOCK) && name !== SYNCED_MARK) {
      throw embeddedErrors.create('TM_EMBEDDED_DIRECTORY_FOREIGN', { directory, found: name })
    }
  }
  return { snapshots, journals }
}
