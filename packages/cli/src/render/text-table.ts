import type { Style } from './style.ts'

/** One column of a table. */
export interface Column<Row> {
  readonly title: string
  /** Numbers stand to the right. */
  readonly right?: boolean
  readonly cell: (row: Row) => string
}

/**
 * Rows under titles, columns two blanks apart, no lines drawn.
 *
 * A column in which no row says anything is left out.
 */
export function textTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], style: Style): readonly string[] {
  const filled = columns
    .map(({ title, right = false, cell }) => ({ title, right, cells: rows.map(cell) }))
    .filter(({ cells }) => cells.some((text) => text !== ''))
  const widths = filled.map(({ title, cells }) => Math.max(title.length, ...cells.map(({ length }) => length)))
  const line = (texts: readonly string[]): string =>
    texts
      .map((text, at) => (filled[at]!.right ? text.padStart(widths[at]!) : text.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd()
  const head = line(filled.map(({ title }) => title))
  return [style.faint(head), ...rows.map((_, at) => line(filled.map(({ cells }) => cells[at]!)))]
}

/** Pairs of a word and what it is, one a line, aligned. */
export function textPairs(pairs: readonly (readonly [string, string])[], style: Style): readonly string[] {
  const width = Math.max(...pairs.map(([word]) => word.length))
  return pairs.map(([word, text]) => `  ${style.faint(word.padEnd(width))}  ${text}`)
}
