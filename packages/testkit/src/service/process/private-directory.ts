import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A new directory under the system's temporary folder that nobody else uses. */
export function makePrivateDirectory(kind: string): string {
  return mkdtempSync(join(tmpdir(), `tidemark-${kind}-`))
}

/** Removes a private directory with all in it; a server that is just ending may still write, so it tries again for a moment. */
export function removePrivateDirectory(directory: string): void {
  rmSync(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}
