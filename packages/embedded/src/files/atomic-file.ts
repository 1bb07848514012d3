import { randomBytes } from 'node:crypto'
import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { EmbeddedDurability } from './durability.ts'

/** The ending of files that are still being written; whatever carries it after a crash is rubbish. */
export const TEMPORARY_SUFFIX = '.tmp'

/**
 * Puts a new content under a name in one step: a reader, or a crash, sees the old file or the new one, whole.
 *
 * Order: temporary file, sync, rename, sync of the directory (without which the rename itself can be lost).
 */
export async function replaceFile(
  path: string,
  durability: EmbeddedDurability,
  fill: (write: (bytes: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<void> {
  const temporary = `${path}.${randomBytes(4).toString('hex')}${TEMPORARY_SUFFIX}`
  const handle = await open(temporary, 'wx')
  try {
    await fill(async (bytes) => {
      await handle.appendFile(bytes)
    })
    if (durability === 'fsync') await handle.sync()
  } catch (error) {
    await handle.close()
    await rm(temporary, { force: true })
    throw error
  }
  await handle.close()
  await rename(temporary, path)
  if (durability === 'fsync') await syncDirectory(dirname(path))
}

/** Makes names in a directory durable. */
export async function syncDirectory(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
