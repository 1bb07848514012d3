import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

interface Result {
  bench: string
  metric: string
  ours: number
  peer: number
  peerName: string
  ratio: number
  ratioIs?: string
  spread: number
  unit: string
  quick?: boolean
}
interface Read {
  results: Result[]
  remarks: string[]
  faults: string[]
}
const { benchTable, readBenchOutput } = await loadScript<{
  benchTable(results: Result[]): string
  readBenchOutput(text: string): Read
}>('plan/bench-table')
const { benchComplaint, benchFailureLines } = await loadScript<{
  benchComplaint(run: { code: number | null; timedOut: boolean; said: string }, read: Read): string | undefined
  benchFailureLines(failures: { name: string; complaint: string }[]): string[]
}>('plan/bench-complaint')
const { sourceRunArgs } = await loadScript<{ sourceRunArgs: string[] }>('act/paths')

const root = join(import.meta.dirname, '../../../..')
const result: Result = {
  bench: 'b',
  metric: 'm',
  ours: 10,
  peer: 8,
  peerName: 'p',
  ratio: 1.25,
  spread: 0.1,
  unit: 'op/s',
}

describe('readBenchOutput', () => {
  it('takes whole results, keeps remarks, and names every broken line', () => {
    const broken = JSON.stringify({ ...result, ratio: 'fast' })
    const read = readBenchOutput(`warm-up\n${JSON.stringify(result)}\n${broken}\n{"bench":\n`)
    expect(read.results).toEqual([result])
    expect(read.remarks).toEqual(['warm-up'])
    expect(read.faults).toEqual([
      expect.stringContaining('ratio must be a number'),
      expect.stringContaining('not JSON'),
    ])
  })

  it.each<[string, Partial<Result>, boolean]>([
    ['a quotient of the row’s own figures', {}, true],
    ['the same, its figures rounded', { ours: 0.0123, peer: 1, ratio: 0.012 }, true],
    ['anything else', { ratio: 1.4 }, false],
    ['anything else that the row explains', { ratio: 1.4, ratioIs: 'median of 5 rounds' }, true],
    ['a division by 0', { peer: 0, ratio: 10 }, false],
    ['a division by 0 that the row explains', { peer: 0, ratio: 10, ratioIs: 'a peer of 0 is taken as 1' }, true],
  ])('a ratio that is %s', (_, part, good) => {
    const { results, faults } = readBenchOutput(JSON.stringify({ ...result, ...part }))
    expect(results).toHaveLength(good ? 1 : 0)
    expect(faults).toEqual(good ? [] : [expect.stringContaining('is not ours / peer, and ratioIs is missing')])
  })
})

describe('benchTable', () => {
  it('lines the table up', () => {
    const lines = benchTable([result]).split('\n')
    expect(lines).toHaveLength(3)
    expect(lines[2]).toMatch(/^b\s+m\s+10\s+8\s+p\s+1\.250\s+0\.100\s+op\/s$/)
  })

  it('says in the row what another ratio is, and that a quick figure is no measurement', () => {
    const rows = benchTable([{ ...result, ratioIs: 'median of 5 rounds', quick: true }, result]).split('\n')
    expect(rows[0]).toMatch(/note$/)
    expect(rows[2]).toMatch(/op\/s +ratio: median of 5 rounds; quick: no measurement$/)
    expect(rows[3]).toMatch(/op\/s$/)
  })
})

describe('benchComplaint', () => {
  const good = { results: [result], remarks: [], faults: [] }
  const nothing = { results: [], remarks: [], faults: [] }
  const run = { code: 0, timedOut: false, said: '' }

  it('has none for a bench that printed whole results', () => {
    expect(benchComplaint(run, good)).toBeUndefined()
    expect(benchFailureLines([])).toEqual([])
  })

  it.each<[string, typeof run, Read, string]>([
    [
      'its last words',
      { ...run, code: 1, said: '  warming up\nno metric is called r9\n' },
      nothing,
      'no metric is called r9 (exit code 1)',
    ],
    [
      'the message of what it threw',
      {
        ...run,
        code: 1,
        said: 'file:///x.ts:3\n  throw new Error()\n  ^\n\nError: ours lost 3 records\n    at y (x.ts:3:9)\n\nNode.js v20.20.2\n',
      },
      good,
      'Error: ours lost 3 records (exit code 1)',
    ],
    ['that it was silent', { ...run, code: 7 }, nothing, 'it gave no reason (exit code 7)'],
    ['the time', { ...run, code: 143, timedOut: true }, good, 'it ran out of time'],
    ['that nothing was measured', run, nothing, 'it printed no result'],
    ['the first broken line', run, { ...good, faults: ['not JSON: {', 'other'] }, 'not JSON: {'],
  ])('gives %s as the reason, and says it again at the end', (_, ended, read, complaint) => {
    expect(benchComplaint(ended, read)).toBe(complaint)
    expect(benchFailureLines([{ name: 'gates/checkpoint', complaint }])).toEqual([
      'failed:',
      `  gates/checkpoint: ${complaint}`,
    ])
  })
})

describe('the bench of the checkpoint, as far as it needs no service', () => {
  /** Runs a program of the bench on its sources, as scripts/bench.mjs runs benches. */
  function runSource(file: string, ...args: string[]): { code: number | null; read: Read; said: string } {
    const program = join(root, 'packages/gates/bench', file)
    const { status, stdout, stderr } = spawnSync(process.execPath, [...sourceRunArgs, program, ...args], {
      cwd: root,
      encoding: 'utf8',
      timeout: 110_000,
    })
    return { code: status, read: readBenchOutput(stdout), said: stderr }
  }

  it('prints rows whose ratio is ours / peer, marked as quick where they are', () => {
    const { code, read, said } = runSource('checkpoint.bench.ts', 'planner', 'codec', '--quick')
    expect(code, said).toBe(0)
    expect(read.faults).toEqual([])
    expect(read.results.map(({ metric }) => metric)).toEqual([
      'planner, nothing read back, 8 partitions',
      'planner, every last record read back, 8 partitions',
      'codec, heap of a step of 1,000 records',
      'planner, heap of a step of 1,000 records',
    ])
    expect(read.results.filter(({ quick, ratioIs }) => quick !== true || ratioIs !== undefined)).toEqual([])
  }, 120_000)

  it('refuses to measure what a compiler has slowed down by keeping names', () => {
    const { code, read, said } = runSource('checkpoint/pure-costs-process.ts', 'planner', '--quick')
    expect(code).not.toBe(0)
    expect(said).toContain('the compiler keeps names')
    expect(read.results).toEqual([])
  }, 120_000)

  it('tells why a metric is none in one line, and fails', () => {
    const { code, read, said } = runSource('checkpoint.bench.ts', 'planner', 'r9')
    expect(code).toBe(1)
    expect(said).toMatch(/^no metric is called r9; known: planner codec .*\n$/)
    expect(benchComplaint({ code, timedOut: false, said }, read)).toContain('no metric is called r9')
  }, 120_000)
})
