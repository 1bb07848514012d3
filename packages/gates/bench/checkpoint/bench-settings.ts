/** How much a bench does. The default finishes within ten minutes on two cores; `quick` only shows that it runs. */
export interface BenchSettings {
  readonly quick: boolean
  readonly rounds: number
  readonly partitions: number
  /** Records of one throughput round. */
  readonly records: number
  /** Records of a round that looks for a few parts in a hundred, which a short one loses in its beginning and end. */
  readonly leaseRecords: number
  /** More of them than elsewhere: what is looked for is smaller than what two rounds differ by. */
  readonly leaseRounds: number
  readonly batches: readonly number[]
  readonly verdictPartitions: number
  readonly foreignKeys: number
  readonly backlogs: readonly number[]
  readonly lossRecords: number
  readonly kills: number
}

const full: BenchSettings = {
  quick: false,
  rounds: 5,
  partitions: 4,
  records: 60_000,
  leaseRecords: 200_000,
  leaseRounds: 15,
  batches: [100, 500],
  verdictPartitions: 512,
  foreignKeys: 10_000_000,
  backlogs: [250_000, 500_000, 1_000_000],
  lossRecords: 60_000,
  kills: 6,
}

const quick: BenchSettings = {
  quick: true,
  rounds: 2,
  partitions: 2,
  records: 2_000,
  leaseRecords: 2_000,
  leaseRounds: 2,
  batches: [100],
  verdictPartitions: 8,
  foreignKeys: 10_000,
  backlogs: [2_000, 4_000],
  lossRecords: 3_000,
  kills: 1,
}

/** The metrics by name, in the order of running. */
export const metricNames = [
  'planner',
  'codec',
  'r1',
  'r2',
  'lease',
  'pinned',
  'verdict512',
  'catchup',
  'losses',
] as const

/** One of the metrics. */
export type MetricName = (typeof metricNames)[number]

/** Whether a metric needs neither Kafka nor Redis. */
export function isPure(metric: MetricName): boolean {
  return metric === 'planner' || metric === 'codec'
}

/** Whether the smallest size is asked for. */
export function isQuick(args: readonly string[]): boolean {
  return args.includes('--quick')
}

/** What the command line asks for, or why it cannot be done. */
export type BenchCommand =
  | { readonly kind: 'run'; readonly settings: BenchSettings; readonly metrics: ReadonlySet<MetricName> }
  | { readonly kind: 'unknown'; readonly reason: string }

/** Reads the metrics and the size a command line names. */
export function readCommand(args: readonly string[]): BenchCommand {
  const words = args.filter((arg) => !arg.startsWith('--'))
  const unknown = words.filter((word) => !(metricNames as readonly string[]).includes(word))
  if (unknown.length > 0) {
    return { kind: 'unknown', reason: `no metric is called ${unknown.join(', ')}; known: ${metricNames.join(' ')}` }
  }
  const metrics = new Set(words.length === 0 ? metricNames : (words as MetricName[]))
  // The losses of a baseline stand beside its speed, always; only a profile does without.
  if ((metrics.has('r1') || metrics.has('r2')) && !args.includes('--no-losses')) metrics.add('losses')
  const given = process.env['TIDEMARK_BENCH_ROUNDS']
  const base = isQuick(args) ? quick : full
  return {
    kind: 'run',
    settings: given === undefined ? base : { ...base, rounds: Number(given), leaseRounds: Number(given) },
    metrics,
  }
}
