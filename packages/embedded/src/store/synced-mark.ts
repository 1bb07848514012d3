import { existsSync } from 'node:fs'
import { open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile, syncDirectory } from '../files/atomic-file.ts'
import type { EmbeddedDurability } from '../files/durability.ts'
import { ioFailed } from '../files/framed-file.ts'

/** The empty file that stands in a storage directory while everything in it is on disk. */
export const SYNCED_MARK = 'storage.synced'

/**
 * What a confirmed step in a directory survives, for whoever looks without being its writer.
 *
 * Ask after reading the data: a mark that stands then was true of what was read.
 */
export function durabilityOf(directory: string): EmbeddedDurability {
  return existsSync(join(directory, SYNCED_MARK)) ? 'fsync' : 'server'
}

/** Takes the mark away before the first write that is not synced, so that a crash in between claims too little. */
export async function removeSyncedMark(directory: string): Promise<void> {
  const path = join(directory, SYNCED_MARK)
  if (!existsSync(path)) return
  try {
    await rm(path)
    await syncDirectory(directory)
  } catch (cause) {
    throw ioFailed('removing', path, cause)
  }
}

/** Sets the mark, once what a writer that does not sync may have left in these files is on disk. */
export async function setSyncedMark(directory: string, files: readonly string[]): Promise<void> {
  const path = join(directory, SYNCED_MARK)
  if (existsSync(path)) return
  try {
    for (const file of files) {
      const handle = await open(file, 'r+')
      await handle.sync().finally(() => handle.close())
    }
    await syncDirectory(directory)
    await replaceFile(path, 'fsync', async () => undefined)
  } catch (cause) {
    throw ioFailed('syncing', directory, cause)
  }
}
