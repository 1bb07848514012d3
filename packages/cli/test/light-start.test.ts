import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'

/** Every module loaded before an action runs: what the program imports for its values, and what that imports. */
function loadedAtStart(): { readonly files: readonly string[]; readonly packages: readonly string[] } {
  const files = new Set<string>()
  const packages = new Set<string>()
  const waiting = [join(import.meta.dirname, '../src/tidemark.ts')]
  for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
    if (files.has(file)) continue
    files.add(file)
    const imports = readFileSync(file, 'utf8').matchAll(/^import (?!type )[^;]*?from '([^']+)'/gm)
    for (const [, specifier] of imports) {
      if (specifier!.startsWith('.')) waiting.push(join(dirname(file), specifier!))
      else packages.add(specifier!)
    }
  }
  return { files: [...files], packages: [...packages].sort() }
}

describe('what is loaded to show help', () => {
  it('[CLI-12] is the argument parser and the words of errors, and no client, adapter or planner', () => {
    const { files, packages } = loadedAtStart()
    expect(packages.filter((name) => !name.startsWith('node:'))).toEqual(['@tidemark/core', 'commander'])
    expect(files.length).toBeGreaterThan(8)
    expect(files.filter((file) => file.includes('/commands/'))).toEqual([])
  })
})
