import { isQuick } from './bench-settings.ts'

/** One comparison. `ratio` is `ours / peer`; where it is taken otherwise, `ratioIs` says how. */
export interface BenchResult {
  readonly metric: string
  readonly ours: number
  readonly peer: number
  readonly peerName: string
  readonly ratio: number
  readonly ratioIs?: string
  readonly spread: number
  readonly unit: string
}

/** A figure of the smallest size says so itself, wherever it is copied to. */
const mark = isQuick(process.argv) ? { quick: true } : {}

/** Prints a result as a JSON line. */
export function printResult(result: BenchResult): void {
  const rounded = {
    ...result,
    ours: round(result.ours),
    peer: round(result.peer),
    ratio: Number(result.ratio.toFixed(3)),
    spread: Number(result.spread.toFixed(3)),
  }
  process.stdout.write(`${JSON.stringify({ bench: 'gates/checkpoint', ...rounded, ...mark })}\n`)
}

/** Says on standard error what is going on; results alone are on standard output. */
export function say(text: string): void {
  process.stderr.write(`  ${text}\n`)
}

/** Prints ours against a limit: below 1 is within it. */
export function printAgainstLimit(metric: string, values: readonly number[], limit: number, unit: string): void {
  const ours = median(values)
  const ratio = ours / limit
  printResult({ metric, ours, peer: limit, peerName: 'limit', ratio, spread: spread(values), unit })
}

/** Prints ours against a peer measured in the same rounds. */
export function printRounds(
  metric: string,
  ours: readonly number[],
  peer: readonly number[],
  peerName: string,
  unit: string,
): void {
  const ratios = ours.map((value, index) => value / peer[index]!)
  const [ratio, spreadOfRatios] = [median(ratios), spread(ratios)]
  const ratioIs = `median of ${ratios.length} rounds`
  const medians = { ours: median(ours), peer: median(peer) }
  printResult({ metric, ...medians, peerName, ratio, ratioIs, spread: spreadOfRatios, unit })
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

/** The distance of the quartiles as a share of the median. */
export function spread(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  const middle = median(values)
  return middle === 0 ? 0 : (at(0.75) - at(0.25)) / middle
}

function round(value: number): number {
  return Math.abs(value) >= 100 ? Math.round(value) : Number(value.toPrecision(3))
}
