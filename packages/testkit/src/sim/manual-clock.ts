import type { CancelSignal, Clock } from '@tidemark/core'

/** A clock whose time moves only when the test, or an otherwise idle simulation, moves it. */
export interface ManualClock extends Clock {
  /** How many sleepers wait. */
  readonly sleeping: number
  /** Moves time forwards, waking each sleeper at its own time and letting what it does finish before the next one. */
  advance(durationMs: number): Promise<void>
  /** Sets the wall clock without moving the monotonic one, as an operator or a time service does. */
  setWall(wallMs: number): void
  /** Holds automatic advancing back, for example while real I/O is awaited; returns how to end the hold. */
  hold(): () => void
}

/** How a manual clock starts and moves. */
export interface ManualClockOptions {
  readonly wallMs?: number
  /**
   * `idle`: as soon as nothing but sleepers is left to do, time jumps to the earliest one, so that a simulation of hours
   * takes milliseconds. `never`: only {@link ManualClock.advance} moves time.
   */
  readonly advances?: 'idle' | 'never'
}

interface Sleeper {
  readonly dueMs: number
  readonly wake: () => void
}

/** How many turns of the event loop must pass without new work before time may jump by itself. */
const IDLE_TURNS = 1

/** A clock under the test's control. Promises: TST-1. */
export function createManualClock(options: ManualClockOptions = {}): ManualClock {
  let nowMs = 0
  let wallOffsetMs = options.wallMs ?? 1_700_000_000_000
  let holds = 0
  let turnScheduled = false
  // Kept in order of due time, ties in order of registration: two runs of one seed must wake the same sleeper first.
  const sleepers: Sleeper[] = []

  const scheduleTurn = (): void => {
    if (options.advances !== 'idle' || turnScheduled || holds > 0 || sleepers.length === 0) return
    turnScheduled = true
    void turns(IDLE_TURNS).then(() => {
      turnScheduled = false
      if (holds > 0) return
      wakeEarliest()
      scheduleTurn()
    })
  }
  const wakeEarliest = (): void => {
    const earliest = sleepers.shift()
    if (earliest === undefined) return
    nowMs = Math.max(nowMs, earliest.dueMs)
    earliest.wake()
  }
  return {
    get sleeping() {
      return sleepers.length
    },
    monotonicMs: () => nowMs,
    wallMs: () => wallOffsetMs + nowMs,
    setWall(wallMs) {
      wallOffsetMs = wallMs - nowMs
    },
    async sleep(durationMs, signal) {
      if (signal?.aborted === true) return
      const slept = sleepUntil(sleepers, nowMs + Math.max(0, durationMs), signal)
      scheduleTurn()
      await slept
    },
    async advance(durationMs) {
      const untilMs = nowMs + durationMs
      // What is already runnable may still register sleepers that fall into this stretch.
      await turns(1)
      while (sleepers[0] !== undefined && sleepers[0].dueMs <= untilMs) {
        wakeEarliest()
        await turns(1)
      }
      nowMs = Math.max(nowMs, untilMs)
      await turns(1)
    },
    hold() {
      holds += 1
      let held = true
      return () => {
        if (held) holds -= 1
        held = false
        scheduleTurn()
      }
    },
  }
}

function sleepUntil(sleepers: Sleeper[], dueMs: number, signal: CancelSignal | undefined): Promise<void> {
  return new Promise((resolve) => {
    const abort = (): void => {
      const index = sleepers.indexOf(sleeper)
      if (index >= 0) sleepers.splice(index, 1)
      resolve()
    }
    const wake = (): void => {
      signal?.removeEventListener('abort', abort)
      resolve()
    }
    const sleeper: Sleeper = { dueMs, wake }
    signal?.addEventListener('abort', abort, { once: true })
    insertInOrder(sleepers, sleeper)
  })
}

function insertInOrder(sleepers: Sleeper[], sleeper: Sleeper): void {
  let index = sleepers.length
  while (index > 0 && sleepers[index - 1]!.dueMs > sleeper.dueMs) index -= 1
  sleepers.splice(index, 0, sleeper)
}

/** Lets a number of turns of the event loop pass; every promise job of a turn has run before the next one. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await new Promise<void>((resolve) => void setImmediate(resolve))
}
