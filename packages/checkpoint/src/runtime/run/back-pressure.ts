import { createCancelSource } from '@tidemark/core'
import type { PartitionLane } from './partition-lane.ts'
import type { RunContext } from './run-context.ts'

/** Holds fetching back while the lanes are full. */
export interface BackPressure {
  /** Resolves when there is room for another fetch, or at the end of the run. */
  room(): Promise<void>
  /** Says that a lane gave up records, or that nobody has to wait any more. */
  roomMade(): void
}

/**
 * How long a full lane may hold all fetching back before its partition is paused instead.
 *
 * Not fetching keeps what the client has read ahead; pausing throws it away, and it crosses the network a second time.
 * So pausing is for a lane that stands still while others could go on. Milliseconds.
 */
const heldBackMsMax = 1_000

/** The back-pressure of a run. Promises: CKP-41. */
export function createBackPressure<Writer>(context: RunContext<Writer>, isOver: () => boolean): BackPressure {
  const { lanes, reader, signal } = context
  const { limits, clock } = context.options
  const waiting = new Set<() => void>()
  const roomMade = (): void => {
    for (const wake of [...waiting]) wake()
  }
  signal.addEventListener('abort', roomMade, { once: true })

  const isFull = (lane: PartitionLane): boolean => !lane.paused && lane.queuedRecords >= limits.queuedRecordsMax
  const woken = (): Promise<void> =>
    new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake)
        resolve()
      }
      waiting.add(wake)
    })
  /** Waits until no lane is full; says whether that took too long. */
  const lanesStayFull = async (): Promise<boolean> => {
    const over = createCancelSource()
    let isLate = false
    const late = clock.sleep(heldBackMsMax, over.signal).then(() => {
      if (over.signal.aborted) return
      isLate = true
      roomMade()
    })
    while (!isLate && !isOver() && lanes.some(isFull)) await woken()
    over.cancel()
    await late
    return isLate && !isOver()
  }
  return {
    async room() {
      while (!isOver() && queuedBytes(lanes) >= limits.queuedBytesMax) await woken()
      if (isOver() || !lanes.some(isFull) || !(await lanesStayFull())) return
      for (const lane of lanes) {
        if (!isFull(lane)) continue
        lane.paused = true
        reader.pause([lane.partition])
      }
    },
    roomMade,
  }
}

function queuedBytes(lanes: readonly PartitionLane[]): number {
  let bytes = 0
  for (const lane of lanes) bytes += lane.queuedBytes
  return bytes
}
