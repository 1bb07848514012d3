import type { ProjectionStatus } from '@tidemark/checkpoint'

/** How far a catch-up has come, over all partitions. Units: offsets, so gaps count as work done. */
export interface CatchUpProgress {
  readonly done: bigint
  readonly total: bigint
  readonly partitionsCaughtUp: number
  readonly partitions: number
}

/** Measures progress from where the projection was resumed towards H0. */
export function catchUpProgress(status: ProjectionStatus): CatchUpProgress {
  let [done, total, partitionsCaughtUp] = [0n, 0n, 0]
  for (const { next, target, replayAtStart, caughtUp } of status.partitions) {
    const [toRead, left] = [BigInt(replayAtStart), BigInt(target) - BigInt(next)]
    total += toRead
    done += left > 0n ? toRead - left : toRead
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
