import { isTidemarkError } from '@tidemark/core'
import { simErrors } from './errors.ts'
import { createSeededChooser } from './seeded-chooser.ts'
import { createSimProcess } from './sim-process.ts'
import type { FaultKind, PlannedFault, SimProcess } from './sim-process.ts'

/** A system whose recovery is explored: a world that survives, lives that do not, and what must hold. */
export interface CrashSubject<World> {
  /** A fresh world; two worlds of one subject must behave alike, or points cannot be found again. */
  createWorld(): World | Promise<World>
  /**
   * One life of the process over the world, from start to a clean end, built from nothing but the world.
   *
   * It must end by itself in a clean run. Under a lost reply it may end early, but must end; a later life goes on.
   */
  live(world: World, process: SimProcess): Promise<void>
  /** Throws when something that must hold at every moment does not; runs after every life, also a crashed one. */
  checkAlways?(world: World): void | Promise<void>
  /** Throws when the final state is wrong; runs after the last, undisturbed life. */
  checkEnd(world: World): void | Promise<void>
}

/** How far to explore. */
export interface CrashExploration {
  /** `single`: every point of the first life. `double`: for each of them also points of the second life. */
  readonly depth: 'single' | 'double'
  /** What is tried at each call. */
  readonly kinds?: readonly FaultKind[]
  /** With `double`: how many pairs to run at most, drawn by the seed; all when absent. */
  readonly pairsMax?: number
  readonly seed?: number
  /** A life that makes more calls than this is stuck. */
  readonly callsMax?: number
}

/** What was explored. Counts let a test assert that the exploration was not empty. */
export interface CrashReport {
  readonly callsOfCleanLife: number
  readonly singleRuns: number
  readonly doubleRuns: number
  /** Pairs that exist but were not drawn. */
  readonly pairsLeftOut: number
  /** How often each labelled call was the point. */
  readonly pointsByCall: ReadonlyMap<string, number>
}

/** Dying and losing a reply, before and after the call took effect. */
export const ALL_FAULT_KINDS: readonly FaultKind[] = [
  'crash-before',
  'crash-after',
  'reply-lost-before',
  'reply-lost-after',
]

const CALLS_MAX = 20_000

/** A life that makes no call for so long, in real milliseconds, waits for something that never comes. */
const STILL_MS_MAX = 20_000

/**
 * Runs a subject with a fault at every awaited call, alone and in pairs, and checks what must hold.
 *
 * First a clean life counts the calls. Then each point gets a world of its own: the life with the fault, then an
 * undisturbed life, then the checks. A point that is not reached is an error, because a run in which nothing crashed
 * proves nothing. Promises: TST-5, TST-6.
 *
 * @throws {TidemarkError} TM_SIM_CRASH_POINT_MISSED, TM_SIM_LIFE_STUCK, or whatever a check throws, with the points in
 *   its cause chain's message.
 */
export async function exploreCrashes<World>(
  subject: CrashSubject<World>,
  exploration: CrashExploration,
): Promise<CrashReport> {
  const kinds = exploration.kinds ?? ALL_FAULT_KINDS
  const callsMax = exploration.callsMax ?? CALLS_MAX
  const pointsByCall = new Map<string, number>()
  const clean = await runLives(subject, [], callsMax)
  const callsOfCleanLife = clean.lives[0]!.calls
  const pairs: (readonly [PlannedFault, PlannedFault])[] = []
  let singleRuns = 0
  for (const first of faultsOf(callsOfCleanLife, kinds)) {
    const run = await runLives(subject, [first], callsMax)
    singleRuns += 1
    const label = run.lives[0]!.faultLabel
    pointsByCall.set(label, (pointsByCall.get(label) ?? 0) + 1)
    if (exploration.depth === 'double') {
      for (const second of faultsOf(run.lives[1]!.calls, kinds)) pairs.push([first, second])
    }
  }
  const drawn = draw(pairs, exploration.pairsMax ?? pairs.length, exploration.seed ?? 1)
  for (const pair of drawn) await runLives(subject, pair, callsMax)
  return {
    callsOfCleanLife,
    singleRuns,
    doubleRuns: drawn.length,
    pairsLeftOut: pairs.length - drawn.length,
    pointsByCall,
  }
}

/** Runs one world through the given faults, a life each, and a last undisturbed life; for replaying a found case. */
export async function replayCrashes<World>(
  subject: CrashSubject<World>,
  faults: readonly PlannedFault[],
): Promise<void> {
  await runLives(subject, faults, CALLS_MAX)
}

interface LifeCount {
  readonly calls: number
  readonly faultLabel: string
}

async function runLives<World>(
  subject: CrashSubject<World>,
  faults: readonly PlannedFault[],
  callsMax: number,
): Promise<{ readonly lives: readonly LifeCount[] }> {
  const world = await subject.createWorld()
  const lives: LifeCount[] = []
  try {
    for (const fault of [...faults, undefined]) {
      lives.push(await runLife(subject, world, fault, callsMax, lives.length + 1))
      await subject.checkAlways?.(world)
    }
    await subject.checkEnd(world)
  } catch (error) {
    throw withPoints(error, faults, lives)
  }
  return { lives }
}

async function runLife<World>(
  subject: CrashSubject<World>,
  world: World,
  fault: PlannedFault | undefined,
  callsMax: number,
  life: number,
): Promise<LifeCount> {
  const process = createSimProcess(fault)
  const watch = watchForStuck(process, life, callsMax)
  try {
    await Promise.race([subject.live(world, process), process.death, watch.stuck])
  } finally {
    watch.end()
  }
  // Calls that were under way when the process died still take effect; let them, as a server would.
  await new Promise<void>((resolve) => void setImmediate(resolve))
  const faultLabel = process.faultedCall ?? 'none'
  if (fault !== undefined && process.faultedCall === undefined) {
    const point = `${fault.kind} at call ${fault.call}`
    throw simErrors.create('TM_SIM_CRASH_POINT_MISSED', { point, reached: process.calls })
  }
  process.kill()
  return { calls: process.calls, faultLabel }
}

/** Rejects when a life makes more calls than it may, or none at all any more. */
function watchForStuck(
  process: SimProcess,
  life: number,
  callsMax: number,
): { readonly stuck: Promise<never>; end(): void } {
  let ended = false
  let seenCalls = -1
  let seenAtMs = 0
  const stuck = new Promise<never>((_, reject) => {
    const look = (): void => {
      if (ended) return
      if (process.calls !== seenCalls) [seenCalls, seenAtMs] = [process.calls, performance.now()]
      const isStill = performance.now() - seenAtMs > STILL_MS_MAX
      if (process.calls <= callsMax && !isStill) return void setImmediate(look)
      // Rejected before the process is ended, so that the race sees the reason and not the death.
      reject(simErrors.create('TM_SIM_LIFE_STUCK', { life, callsMax, lastCall: process.lastCall }))
      process.kill()
    }
    look()
  })
  // The race may be decided by another member; a late rejection is then nobody's.
  stuck.catch(() => undefined)
  return { stuck, end: () => void (ended = true) }
}

function faultsOf(calls: number, kinds: readonly FaultKind[]): readonly PlannedFault[] {
  return Array.from({ length: calls }, (_, index) => kinds.map((kind) => ({ call: index + 1, kind }))).flat()
}

function draw<T>(items: readonly T[], count: number, seed: number): readonly T[] {
  if (items.length <= count) return items
  const chooser = createSeededChooser(seed)
  const left = [...items]
  return Array.from({ length: count }, () => left.splice(chooser.whole(0, left.length - 1), 1)[0]!)
}

function withPoints(error: unknown, faults: readonly PlannedFault[], lives: readonly LifeCount[]): Error {
  // The driver's own errors name their point already and are told apart by code.
  if (isTidemarkError(error, 'TM_SIM_CRASH_POINT_MISSED') || isTidemarkError(error, 'TM_SIM_LIFE_STUCK')) return error
  const points = faults
    .map(
      (fault, index) => `life ${index + 1}: ${fault.kind} at call ${fault.call} (${lives[index]?.faultLabel ?? '?'})`,
    )
    .join('; ')
  const text = error instanceof Error ? error.message : String(error)
  return new Error(`${points === '' ? 'clean run' : points}: ${text}`, { cause: error })
}
