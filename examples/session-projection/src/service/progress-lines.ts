import type { ProjectionStatus } from '@tidemark/checkpoint'

/** How far a catch-up has come, over all partitions. Units: offsets, so gaps count as work done. */
export interface CatchUpProgress {
  readonly done: bigint
  readonly total: bigint
  readonly partitionsCaughtUp: number
  readonly partitions: number
}

/** Measures progress from the positions of the start plan towards H0. */
export function catchUpProgress(starts: ReadonlyMap<number, bigint>, status: ProjectionStatus): CatchUpProgress {
  let [done, total, partitionsCaughtUp] = [0n, 0n, 0]
  for (const { partition, next, target, caughtUp } of status.partitions) {
    const [from, to] = [starts.get(partition) ?? 0n, BigInt(target)]
    if (to > from) {
      total += to - from
      done += (BigInt(next) > to ? to : BigInt(next)) - from
    }
    if (caughtUp) partitionsCaughtUp += 1
  }
  return { done, total, partitionsCaughtUp, partitions: status.partitions.length }
}

/** The line an operator reads. */
export function progressLine(progress: CatchUpProgress): string {
  const { done, total, partitionsCaughtUp, partitions } = progress
  // Whole percent, rounded down: 100 % is only ever said when nothing is left.
  const percent = total === 0n ? 100n : (done * 100n) / total
  return `catching up: ${percent} % (${done} of ${total} offsets), ${partitionsCaughtUp} of ${partitions} partitions there`
}
