import { postgresErrors } from '../errors.ts'
import type { PostgresResult } from './postgres-database.ts'

/** The one row of a reply that must have exactly one. */
export function rowReply(operation: string, result: PostgresResult): Readonly<Record<string, unknown>> {
  const [row] = result.rows
  if (row === undefined || result.rows.length !== 1) throw malformed(operation, 'one row', `${result.rows.length} rows`)
  return row
}

/** A column that must hold a text. */
export function textColumn(operation: string, row: Readonly<Record<string, unknown>>, column: string): string {
  const value = row[column]
  if (typeof value === 'string') return value
  throw malformed(operation, `a text in ${column}`, value === null ? 'NULL' : `a ${typeof value}`)
}

/** The JSON document in a column. */
export function jsonColumn(operation: string, row: Readonly<Record<string, unknown>>, column: string): unknown {
  const text = textColumn(operation, row, column)
  try {
    return JSON.parse(text)
  } catch {
    throw malformed(operation, `a JSON document in ${column}`, 'another text')
  }
}

/** The error of a reply of another shape. Only the shape is told: the values may be anybody's data. */
export function malformed(operation: string, expected: string, found: string): Error {
  return postgresErrors.create('TM_POSTGRES_REPLY_MALFORMED', { operation, expected, found })
}
