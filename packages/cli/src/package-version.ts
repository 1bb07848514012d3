import { createRequire } from 'node:module'

/** The version of this package. The file stands at the same depth in source and build. */
export function packageVersion(): string {
  const manifest = createRequire(import.meta.url)('../package.json') as { readonly version: string }
  return manifest.version
}
