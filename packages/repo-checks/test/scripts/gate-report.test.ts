import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

interface Gate {
  id: string
  milestone: number
  kind?: string
  title?: string
}
interface Verdict extends Gate {
  status: string
  files: string[]
}
interface SeenTest {
  title: string
  status: string
  file: string
  kind: string
}
const { chooseGates, gateLine, gateList, gatesFail, gatesLine, idsInSource, idsInTitle, judgeGates } =
  await loadScript<{
    chooseGates(gates: Gate[], prefix: string | undefined): Gate[]
    gateLine(verdict: Verdict): string
    gateList(gates: Gate[]): string[]
    gatesFail(verdicts: Verdict[], options: { named: boolean; strict: boolean; milestone: number }): boolean
    gatesLine(verdicts: Verdict[]): string
    idsInSource(text: string): Set<string>
    idsInTitle(title: string): string[]
    judgeGates(gates: Gate[], tests: SeenTest[]): Verdict[]
  }>('plan/gate-report')
const { loadGates } = await loadScript<{ loadGates(): { milestone: number; gates: Gate[] } }>('act/load-gates')

const gates: Gate[] = [
  { id: 'A1', milestone: 1, kind: 'service' },
  { id: 'A10', milestone: 2, kind: 'service' },
  { id: 'CK-07', milestone: 1 },
]
const seen = (title: string, status: string, kind = 'service'): SeenTest => ({
  title,
  status,
  kind,
  file: `${kind}.test.ts`,
})

describe('the ids of a test', () => {
  it('are the words of every bracket in its title, its groups included', () => {
    expect(idsInTitle('[A5] recreated > [CK-01] [CKP-31] applies nothing')).toEqual(['A5', 'CK-01', 'CKP-31'])
    expect(idsInTitle('[A1, A7] both')).toEqual(['A1', 'A7'])
    expect(idsInTitle('A1 without brackets')).toEqual([])
  })

  it('are found in a source without running it', () => {
    expect([...idsInSource("it('[A5] [CK-01] x', () => { list[0]; text['abc'] })")]).toEqual(['A5', 'CK-01'])
  })
})

describe('judgeGates', () => {
  it('passes, fails and misses', () => {
    const verdicts = judgeGates(gates, [seen('[A1] a', 'passed'), seen('[CK-07] b', 'failed', 'unit')])
    expect(verdicts.map(gateLine)).toEqual(['A1 passed service.test.ts', 'A10 missing -', 'CK-07 failed unit.test.ts'])
    expect(gatesLine(verdicts)).toBe('gates: 1 passed, 1 failed, 1 missing')
  })

  it('names only the files that failed of a failed gate, each once, and every file of a passed one', () => {
    const files = ['a', 'b', 'c'].map((name) => (status: string) => ({ ...seen('[A1] x', status), file: `${name}.ts` }))
    const [a, b, c] = files as [
      (status: string) => SeenTest,
      (status: string) => SeenTest,
      (status: string) => SeenTest,
    ]
    const lineOf = (tests: SeenTest[]): string => gateLine(judgeGates([gates[0]!], tests)[0]!)
    expect(lineOf([a('passed'), b('passed'), b('failed'), b('failed'), c('failed')])).toBe('A1 failed b.ts,c.ts')
    expect(lineOf([a('passed'), b('failed'), c('skipped')])).toBe('A1 failed b.ts')
    expect(lineOf([c('skipped'), b('passed'), a('passed')])).toBe('A1 passed a.ts,b.ts,c.ts')
  })

  it('does not take a pure test for a gate on a real broker, nor a skipped test for a passed or a failed one', () => {
    expect(judgeGates(gates, [seen('[A1] a', 'passed', 'unit')])[0]!.status).toBe('missing')
    expect(judgeGates(gates, [seen('[A1] b', 'skipped')])[0]!.status).toBe('missing')
    expect(judgeGates(gates, [seen('[A1] a', 'passed'), seen('[A1] b', 'skipped')])[0]!.status).toBe('passed')
  })

  it('does not mix A1 with A10', () => {
    expect(judgeGates(gates, [seen('[A10] a', 'passed')]).map(({ status }) => status)).toEqual([
      'missing',
      'passed',
      'missing',
    ])
  })
})

describe('gatesFail', () => {
  const verdict = (status: string, milestone: number): Verdict => ({ id: 'A1', status, milestone, files: [] })
  const open = { named: false, strict: false, milestone: 1 }
  it.each<[string, Verdict, typeof open, boolean]>([
    ['a failed gate', verdict('failed', 2), open, true],
    ['a missing gate that is due', verdict('missing', 1), open, true],
    ['a missing gate of a later milestone', verdict('missing', 2), open, false],
    ['the same, named', verdict('missing', 2), { ...open, named: true }, true],
    ['the same, strict', verdict('missing', 2), { ...open, strict: true }, true],
    ['a passed gate', verdict('passed', 1), open, false],
  ])('%s', (_, one, options, fails) => {
    expect(gatesFail([one], options)).toBe(fails)
  })
})

describe('chooseGates', () => {
  it('takes an exact name before a prefix, and refuses what matches nothing', () => {
    expect(chooseGates(gates, 'A1').map(({ id }) => id)).toEqual(['A1'])
    expect(chooseGates(gates, 'A').map(({ id }) => id)).toEqual(['A1', 'A10'])
    expect(chooseGates(gates, undefined)).toHaveLength(3)
    expect(() => chooseGates(gates, 'Z')).toThrow(/no gate begins with Z/)
  })
})

describe('the list of gates', () => {
  it('names every gate once', () => {
    const ids = loadGates().gates.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(ids).toEqual(expect.arrayContaining(['A1', 'A13', 'CK-01', 'CK-58']))
  })

  it('says of every gate in one line what it shows, and of no two the same', () => {
    const titles = loadGates().gates.map(({ title }) => title ?? '')
    expect(titles.filter((title) => !/^\S.{20,128}$/.test(title))).toEqual([])
    expect(new Set(titles).size).toBe(titles.length)
  })

  it('stands in columns', () => {
    const one = { id: 'CK-07', milestone: 1, title: 'a position below the low watermark is refused' }
    expect(gateList([{ ...one, id: 'A1' }, one])).toEqual([
      'gate   milestone  what it shows',
      `A1     1          ${one.title}`,
      `CK-07  1          ${one.title}`,
    ])
  })
})
