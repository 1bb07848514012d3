import type { PartitionLane } from './partition-lane.ts'

/** Runs at most so many lanes at once, each by one worker, in turn. */
export interface ApplyScheduler {
  /** Says that a lane may have something to apply. */
  kick(lane: PartitionLane): void
  /** Whether no lane is being worked on or waiting for its turn. */
  readonly idle: boolean
  /** Resolves when the scheduler is idle, at once if it is. */
  whenIdle(): Promise<void>
}

/**
 * A scheduler over a step function that applies one step of a lane and says whether more may follow.
 *
 * Order: a lane is never worked on twice at once, so its steps keep the partition's order; after each step a lane goes
 * behind those that wait, so that a long backlog does not starve the others. Promises: CKP-32.
 */
export function createApplyScheduler(
  stepsInFlightMax: number,
  applyStep: (lane: PartitionLane) => Promise<'more' | 'nothing'>,
): ApplyScheduler {
  const waiting = new Set<PartitionLane>()
  const working = new Set<PartitionLane>()
  const kickedAgain = new Set<PartitionLane>()
  let idleWaiters: (() => void)[] = []

  const work = async (lane: PartitionLane): Promise<void> => {
    const outcome = await applyStep(lane)
    working.delete(lane)
    if (outcome === 'more' || kickedAgain.delete(lane)) waiting.add(lane)
    kickedAgain.delete(lane)
    start()
  }
  const start = (): void => {
    for (const lane of waiting) {
      if (working.size >= stepsInFlightMax) break
      waiting.delete(lane)
      working.add(lane)
      void work(lane)
    }
    if (working.size > 0 || waiting.size > 0) return
    const waiters = idleWaiters
    idleWaiters = []
    for (const waiter of waiters) waiter()
  }
  return {
    kick(lane) {
      if (working.has(lane)) kickedAgain.add(lane)
      else waiting.add(lane)
      start()
    },
    get idle() {
      return working.size === 0 && waiting.size === 0
    },
    whenIdle: () =>
      working.size === 0 && waiting.size === 0
        ? Promise.resolve()
        : new Promise((resolve) => void idleWaiters.push(resolve)),
  }
}
