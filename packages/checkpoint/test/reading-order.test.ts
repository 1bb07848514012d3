import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const src = join(import.meta.dirname, '../src')
const text = readFileSync(join(src, 'index.ts'), 'utf8')
const header = text.slice(0, text.indexOf('export')).replaceAll(/^\/\/ /gm, '')

describe('the reading order at the head of the entry point', () => {
  it('names files and folders that exist, and leads into every folder of this entry point', () => {
    const words = header.split(/[\s,():]+/).filter((word) => /^[a-z]+(?:[-/][a-z]+)+$/.test(word))
    expect(words.length).toBeGreaterThan(15)
    const missing = words.filter((word) => !existsSync(join(src, `${word}.ts`)) && !existsSync(join(src, word)))
    expect(missing).toEqual([])
    const folders = readdirSync(src, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map((entry) => join(entry.parentPath, entry.name).slice(src.length + 1))
      // `memory` is an entry point of its own.
      .filter((folder) => folder !== 'memory')
    expect(folders).toContain('runtime/run')
    for (const folder of folders) expect(header).toMatch(new RegExp(`\\b${folder}\\b`))
  })
})
