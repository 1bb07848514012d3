/** One line of the proof: what was measured, and whether it is as it must be. */
export interface ProofRow {
  readonly what: string
  readonly measured: string | number
  readonly due: string
  readonly holds: boolean
}

/** The table, and its last line for people and machines. */
export function renderProof(rows: readonly ProofRow[]): { readonly text: string; readonly holds: boolean } {
  const holds = rows.every((row) => row.holds)
  const [whatWidth, measuredWidth] = [
    Math.max(...rows.map(({ what }) => what.length)),
    Math.max(...rows.map(({ measured }) => String(measured).length)),
  ]
  const lines = rows.map(({ what, measured, due, holds: one }) => {
    return `${one ? 'ok    ' : 'BROKEN'}  ${what.padEnd(whatWidth)}  ${String(measured).padStart(measuredWidth)}  (${due})`
  })
  const last = holds ? 'proof: sessions equal those recomputed from the log' : 'proof: FAILED'
  return { text: [...lines, last].join('\n'), holds }
}
