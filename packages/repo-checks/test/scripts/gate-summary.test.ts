import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

interface SeenTest {
  title: string
  status: string
  file: string
  kind?: string
  why?: string
}
interface Verdict {
  id: string
  status: string
  files: string[]
}
interface Run {
  verdicts: Verdict[]
  tests: SeenTest[]
  backends: string
  measures: object[]
  took: string
  seed: string
  size: string
  prefix?: string
}
const { gateSummary, testsOfGates } = await loadScript<{
  gateSummary(run: Run): string[]
  testsOfGates(
    kind: string,
    files: { file: string; ids: string[] }[],
    result: { tests: SeenTest[]; complaint?: string },
  ): SeenTest[]
}>('plan/gate-summary')
const { judgeGates } = await loadScript<{
  judgeGates(gates: { id: string; milestone: number }[], tests: SeenTest[]): Verdict[]
}>('plan/gate-report')

const gates = ['A1', 'A2', 'CK-07'].map((id) => ({ id, milestone: 1 }))
const files = [
  { file: 'one.ts', ids: ['A1'] },
  { file: 'two.ts', ids: ['A2', 'CK-07'] },
]
const passed: SeenTest = { title: '[A1] x', status: 'passed', file: 'one.ts', kind: 'service' }
const run = { backends: 'backends: none', measures: [], took: '75 s', seed: '42', size: 'ci' }

describe('gateSummary', () => {
  it('ends with every failed test and its reason, the time it took, how to repeat it, and the counts', () => {
    const failed = {
      title: '[A2] y',
      status: 'failed',
      file: 'two.ts',
      kind: 'service',
      why: 'Error: 1 is not 2\n  at z',
    }
    const tests = [passed, failed]
    const measures = [{ gate: 'A1', what: 'kills', lost: 0 }]
    expect(gateSummary({ ...run, measures, verdicts: judgeGates(gates, tests), tests })).toEqual([
      'backends: none',
      'A1 kills: lost 0',
      'A1 passed one.ts',
      'A2 failed two.ts',
      'CK-07 missing -',
      'failed tests:',
      '  two.ts > [A2] y',
      '      Error: 1 is not 2',
      '      at z',
      'took 75 s; to repeat: TIDEMARK_SEED=42 npm run gates',
      'gates: 1 passed, 1 failed, 1 missing',
    ])
  })

  it.each([
    [{ size: 'full' }, 'TIDEMARK_SEED=42 npm run gates -- --full'],
    [{ prefix: 'CK' }, 'TIDEMARK_SEED=42 npm run gates -- CK'],
    [{ size: 'full', prefix: 'A13' }, 'TIDEMARK_SEED=42 npm run gates -- A13 --full'],
  ])('repeats what was run: %j', (part, command) => {
    const lines = gateSummary({ ...run, ...part, verdicts: [], tests: [] })
    expect(lines.slice(-2)).toEqual([`took 75 s; to repeat: ${command}`, 'gates: 0 passed, 0 failed, 0 missing'])
  })
})

describe('testsOfGates', () => {
  const verdictsOf = (tests: SeenTest[]): string[] =>
    judgeGates(gates, tests).map(({ id, status }) => `${id} ${status}`)

  it('leaves what ran as it is', () => {
    const tests = [passed, { ...passed, title: '[A2] [CK-07] y', file: 'two.ts' }]
    expect(testsOfGates('service', files, { tests })).toEqual(tests)
  })

  it('fails every gate of a file that could not be run, and tells the reason once', () => {
    const unloaded = { title: '(the file could not be run)', status: 'failed', file: 'two.ts', why: 'no such module' }
    const tests = testsOfGates('service', files, { tests: [passed, unloaded] })
    expect(verdictsOf(tests)).toEqual(['A1 passed', 'A2 failed', 'CK-07 failed'])
    expect(gateSummary({ ...run, verdicts: [], tests }).slice(1, -2)).toEqual([
      'failed tests:',
      '  two.ts > [A2] [CK-07] (the file could not be run)',
      '      no such module',
    ])
  })

  it('fails the gates of files that left nothing, and of all when the run itself went wrong, and says why', () => {
    expect(verdictsOf(testsOfGates('service', files, { tests: [passed] }))).toEqual([
      'A1 passed',
      'A2 failed',
      'CK-07 failed',
    ])
    const late = testsOfGates('service', files, { tests: [passed], complaint: 'it ran out of time' })
    expect(verdictsOf(late)).toEqual(['A1 failed', 'A2 failed', 'CK-07 failed'])
    expect(late.filter(({ status }) => status === 'failed').map(({ why }) => why)).toEqual([
      'it ran out of time',
      'it ran out of time',
    ])
  })
})
