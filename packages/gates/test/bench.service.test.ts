import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'

const bench = join(import.meta.dirname, '../bench/checkpoint.bench.ts')

interface Result {
  readonly metric: string
  readonly ours: number
  readonly peer: number
  readonly ratio: number
  readonly spread: number
  readonly quick?: boolean
}

/** Runs the bench at its smallest size; its results, and what it said besides. */
async function runBench(metrics: readonly string[]): Promise<{ code: number | null; results: Result[]; said: string }> {
  const args = ['--import', 'tsx', '--conditions=@tidemark/source', bench, ...metrics, '--quick']
  const child = spawn(process.execPath, args, { cwd: join(import.meta.dirname, '../../..') })
  let [out, said] = ['', '']
  child.stdout.on('data', (data: Buffer) => (out += data.toString()))
  child.stderr.on('data', (data: Buffer) => (said += data.toString()))
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve))
  const lines = out.split('\n').filter((line) => line !== '')
  return { code, results: lines.map((line) => JSON.parse(line) as Result), said }
}

describe('the bench of the checkpoint', () => {
  // Speed is judged where it is measured; here every comparison only has to come about, with ours losing nothing.
  it('compares everything it promises, at its smallest size, with finite figures', async () => {
    const metrics = ['planner', 'codec', 'r1', 'lease', 'pinned', 'verdict512', 'catchup']
    const { code, results, said } = await runBench(metrics)
    expect(code, said.slice(-2_000)).toBe(0)
    for (const { metric, ours, peer, ratio, spread } of results) {
      expect(
        [ours, peer, ratio, spread].every((figure) => Number.isFinite(figure) && figure >= 0),
        metric,
      ).toBe(true)
    }
    expect(results.filter(({ quick }) => quick !== true)).toEqual([])
    const names = results.map(({ metric }) => metric)
    for (const due of ['planner', 'codec', 'r1', 'r2', 'r3', 'lease', 'pinned', 'verdict', 'catchup', 'lost']) {
      expect(
        names.some((name) => name.startsWith(due)),
        `${due} among ${names.join('; ')}`,
      ).toBe(true)
    }
    const lost = results.filter(({ metric }) => metric.startsWith('lost'))
    expect(lost.map(({ ours }) => ours)).toEqual(lost.map(() => 0))
  })

  it('knows its metrics and refuses others', async () => {
    const { code, said } = await runBench(['r9'])
    expect(code).not.toBe(0)
    expect(said).toContain('no metric is called r9')
  })
})
