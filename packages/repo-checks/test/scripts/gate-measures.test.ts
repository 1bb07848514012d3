import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

type Measure = Readonly<Record<string, string | number>>
const { measureLine, readMeasures } = await loadScript<{
  measureLine(measure: Measure): string
  readMeasures(text: string): Measure[]
}>('plan/gate-measures')
const { gateEvidence } = await loadScript<{
  gateEvidence(verdict: object, run: object): Readonly<Record<string, unknown>>
}>('plan/gate-evidence')

const kills: Measure = { gate: 'A13', what: 'SIGKILL, postgres', kills: 200, lost: 0 }
const run = { measures: [kills], durationMs: 1_000 }

describe('measures of gates', () => {
  it('are read line by line; what is cut off or names no gate is left out', () => {
    const text = `${JSON.stringify(kills)}\n\n{"gate":"A13","wh\n{"what":"none"}\nnull\n`
    expect(readMeasures(text)).toEqual([kills])
    expect(readMeasures('')).toEqual([])
  })

  it('are one line for a person', () => {
    expect(measureLine(kills)).toBe('A13 SIGKILL, postgres: kills 200, lost 0')
  })

  it('stand in the evidence of their own gate only', () => {
    expect(gateEvidence({ id: 'A13' }, run)['measured']).toEqual([{ what: 'SIGKILL, postgres', kills: 200, lost: 0 }])
    expect(gateEvidence({ id: 'A12' }, run)).not.toHaveProperty('measured')
  })
})
