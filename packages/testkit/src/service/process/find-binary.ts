import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** The full path of a program on PATH (and in the usual system folders, which a minimal PATH may lack). */
export function findBinary(name: string, path: string = process.env['PATH'] ?? ''): string | undefined {
  const folders = [...path.split(delimiter), '/usr/local/bin', '/usr/bin', '/usr/sbin', '/bin'].filter((f) => f !== '')
  return folders.map((folder) => join(folder, name)).find(isExecutable)
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK)
    return statSync(file).isFile()
  } catch {
    return false
  }
}
