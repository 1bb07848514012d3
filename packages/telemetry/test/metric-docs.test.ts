import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectionAttributes, projectionMetrics, prometheusLabel, prometheusName } from '@tidemark/telemetry'
import type { ProjectionMetric } from '@tidemark/telemetry'
import { describe, expect, it } from 'vitest'

const reference = join(import.meta.dirname, '../../../docs/reference')
const rows: readonly ProjectionMetric[] = projectionMetrics

/** A table row as its cells, code marks removed. */
function cellsOf(line: string): readonly string[] {
  return line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim().replaceAll('`', ''))
}

describe('the page of the figures', () => {
  const page = readFileSync(join(reference, 'metrics.md'), 'utf8')
  const written = page
    .split('\n')
    .filter((line) => line.startsWith('| `tidemark.projection.'))
    .map(cellsOf)
  const figures = written.filter((cells) => cells.length === 7)
  const names = written.filter((cells) => cells.length === 2)

  it('[TEL-7] says of every figure exactly what the catalogue says, and names no other', () => {
    const due = rows.map((row) => [
      row.name,
      row.instrument,
      row.unit,
      row.meaning,
      row.attributes.join(', '),
      row.alertWhen,
      row.rest ?? '',
    ])
    expect(figures).toEqual(due)
  })

  it('[TEL-7] says what exporters make of each name', () => {
    expect(names).toEqual(rows.map((row) => [row.name, prometheusName(row)]))
    expect(figures.length + names.length).toBe(written.length)
    for (const attribute of projectionAttributes) expect(page).toContain(`\`${attribute}\``)
  })
})

describe('the example of alert rules', () => {
  const text = readFileSync(join(reference, 'alerts.yaml'), 'utf8')
  const expressions = [...text.matchAll(/^\s+expr: (?:>-\n((?:\s{10,}.*\n)+)|(.*)$)/gm)].map(
    ([, folded, inline]) => folded ?? inline!,
  )

  it('[TEL-7] asks only for figures and attributes that exist, and for the four that matter most', () => {
    const known = new Set([
      ...rows.flatMap((row) => {
        const name = prometheusName(row)
        return row.instrument === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name]
      }),
      ...[...projectionAttributes, ...rows.flatMap(({ attributes }) => attributes)].map(prometheusLabel),
    ])
    const asked = expressions.flatMap((expression) => expression.match(/\btidemark_\w+/g) ?? [])
    expect(asked.filter((name) => !known.has(name))).toEqual([])
    for (const figure of ['headroom', 'dirty', 'stalled_seconds', 'lag']) {
      expect(asked).toContain(`tidemark_projection_${figure}`)
    }
  })

  it('[TEL-7] gives each rule an expression, a summary and a page', () => {
    const alerts = text.match(/^\s+- alert: /gm) ?? []
    expect(alerts.length).toBeGreaterThanOrEqual(6)
    expect(expressions).toHaveLength(alerts.length)
    expect(text.match(/^\s+summary: ./gm)).toHaveLength(alerts.length)
    expect(text.match(/^\s+page: docs\/./gm)).toHaveLength(alerts.length)
  })
})

describe('the catalogue', () => {
  it('[TEL-1] has names, units and meanings as the OpenTelemetry conventions want them', () => {
    expect(new Set(rows.map(({ name }) => name)).size).toBe(rows.length)
    for (const { name, unit, meaning } of rows) {
      expect(name).toMatch(/^tidemark\.projection(\.[a-z][a-z_]*)+$/)
      expect(unit, name).toMatch(/^(?:s|\{[a-z]+\})$/)
      expect(meaning.length, name).toBeGreaterThan(10)
      expect(
        rows.filter((other) => other.name.startsWith(`${name}.`)).map((other) => other.name),
        `${name} is no namespace of others`,
      ).toEqual([])
    }
  })

  it('[TEL-6] is named in Prometheus with its unit, and counters end in _total', () => {
    const named = (name: string, instrument: ProjectionMetric['instrument'], unit: string): string =>
      prometheusName({ name, instrument, unit })
    expect(named('a.b.lag', 'gauge', '{record}')).toBe('a_b_lag')
    expect(named('a.lease.age', 'gauge', 's')).toBe('a_lease_age_seconds')
    expect(named('a.wait.seconds', 'gauge', 's')).toBe('a_wait_seconds')
    expect(named('a.records', 'counter', '{record}')).toBe('a_records_total')
    expect(prometheusLabel('tidemark.dirty.code')).toBe('tidemark_dirty_code')
    expect(new Set(rows.map(prometheusName)).size).toBe(rows.length)
  })
})
