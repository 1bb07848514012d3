import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { kafkaErrors } from '../src/errors.ts'

describe('error catalogue', () => {
  it('[KAF-14] and its page name the same codes', async () => {
    const page = await readFile(join(import.meta.dirname, '../../../docs/errors/kafka.md'), 'utf8')
    const headings = [...page.matchAll(/^## (TM_[A-Z_]+)$/gm)].map((match) => match[1]!)
    expect(headings.sort()).toEqual([...kafkaErrors.codes].sort())
  })

  it('[KAF-14] every code has a remedy that is a sentence', () => {
    for (const code of kafkaErrors.codes) expect(kafkaErrors.remedy(code)).toMatch(/^[A-Z].*\.$/)
  })
})
