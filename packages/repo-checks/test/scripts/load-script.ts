import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const scripts = join(import.meta.dirname, '..', '..', '..', '..', 'scripts')

/** A module of `scripts/`, with the shape the test expects of it. The scripts are plain JavaScript, since they run before anything is installed. */
export async function loadScript<T>(name: string): Promise<T> {
  return (await import(pathToFileURL(join(scripts, `${name}.mjs`)).href)) as T
}
