import { createHash } from 'node:crypto'
import type { PostgresStatement, PostgresValue } from '../../database/postgres-database.ts'

/** Collects the parameters of one statement while its text is put together. */
export interface StatementBuilder {
  /** Adds a parameter and gives its place in the text. */
  param(value: PostgresValue): string
  build(text: string): PostgresStatement
}

/** A builder of a statement that the server shall keep a plan for. */
export function createStatementBuilder(): StatementBuilder {
  const values: PostgresValue[] = []
  return {
    param(value) {
      values.push(value)
      return `$${values.length}`
    },
    build: (text) => ({ text, values, name: planName(text) }),
  }
}

interface Uses {
  readonly digest: string
  count: number
}

const usesOfText = new Map<string, Uses>()

/** The shapes of statements are few; a program that makes more of them than this has its plans made anew. */
const textsMax = 512

/**
 * One name per text, and another one after the 8th, 64th, 512th ... use.
 *
 * A kept plan was made for the tables as they were then: one made for an empty table reads all of it, and a catch-up fills
 * it within seconds, before the server looks again by itself.
 */
export function planName(text: string): string {
  const uses = usesOfText.get(text) ?? {
    digest: createHash('sha256').update(text).digest('hex').slice(0, 24),
    count: 0,
  }
  if (uses.count === 0) {
    if (usesOfText.size >= textsMax) usesOfText.clear()
    usesOfText.set(text, uses)
  }
  uses.count += 1
  return `tidemark_${uses.digest}_${Math.floor(Math.log2(uses.count) / 3)}`
}
