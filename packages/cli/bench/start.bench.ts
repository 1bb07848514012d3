// How long the built command takes to show help and version, beside a Node that does nothing; whole processes, in turn.
// Prints a JSON object a line; the target is below 300 ms on an idle machine.
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const program = join(import.meta.dirname, '../dist/tidemark.js')
const rounds = Number(process.env['TIDEMARK_BENCH_ROUNDS'] ?? 9)

/** Milliseconds from the start of a process to its end. */
function timed(args: readonly string[]): number {
  const startedMs = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  if (status !== 0) throw new Error(`${args.join(' ')} ended with ${String(status)}: ${String(stderr)}`)
  return performance.now() - startedMs
}

const median = (numbers: readonly number[]): number => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!
const rounded = (value: number): number => Math.round(value * 100) / 100

if (!existsSync(program)) throw new Error('the command is not built; run `npm run build` first')
for (const argument of ['--help', '--version']) {
  const [ours, peer]: [number[], number[]] = [[], []]
  for (let round = 0; round <= rounds; round += 1) {
    const pair = [timed([program, argument]), timed(['--eval', '0'])] as const
    // The first pair fills the caches of the machine.
    if (round === 0) continue
    ours.push(pair[0])
    peer.push(pair[1])
  }
  const ratios = ours.map((each, at) => each / peer[at]!)
  const result = {
    bench: 'cli/start',
    metric: argument.slice(2),
    ours: Math.round(median(ours)),
    peer: Math.round(median(peer)),
    peerName: 'node --eval 0',
    ratio: rounded(median(ratios)),
    ratioIs: `median of ${ratios.length} rounds`,
    spread: rounded(Math.max(...ratios) - Math.min(...ratios)),
    unit: 'ms',
  }
  process.stdout.write(`${JSON.stringify(result)}\n`)
}
