import { coreErrors, EVENT_TIME_MAX_MS } from '@tidemark/core'
import { placeOf } from '../envelope/input-partition.ts'
import type { InputPartition } from '../envelope/input-partition.ts'
import { windowErrors } from '../errors.ts'
import type { StreamTimePolicy } from '../policy/stream-time-policy.ts'
import { FRONTIER_MAX, FRONTIER_MIN } from '../time/frontier-time.ts'
import type { Frontier } from '../time/frontier-time.ts'
import { startState } from './frontier-start.ts'
import type { FrontierStart } from './frontier-start.ts'
import { decodeFrontier, encodeFrontier } from './frontier-state.ts'
import type { FrontierState } from './frontier-state.ts'
import type { PartitionStatus } from './marks.ts'
import { MinimumTree } from './minimum-tree.ts'

/** The largest bound under which every claim is still an exact number. */
export const BOUND_MAX_MS: number = Number.MAX_SAFE_INTEGER - EVENT_TIME_MAX_MS

/** What a frontier is made of. Nothing of it has a default. */
export interface FrontierOptions {
  /** In the order of the engine's indexes; at least one, each once. */
  readonly partitions: readonly InputPartition[]
  readonly boundMs: number
  readonly allIdle: StreamTimePolicy['allIdle']
  readonly resumeBehind: StreamTimePolicy['resumeBehind']
  readonly start: FrontierStart
}

/**
 * How far event time is claimed complete, over all partitions of a topology.
 *
 * A partition claims its largest event time less the bound. The frontier is the least claim of the active partitions and never
 * goes back. A pure function of the order of its calls. A record is judged by the frontier before it, and observed after.
 * Promises: WIN-24 to WIN-27.
 */
export interface FrontierTracker {
  readonly partitions: readonly InputPartition[]
  readonly frontier: Frontier
  /**
   * Takes the event time of a partition's next record; whether the frontier moved. A record of an idle partition ends its idleness.
   *
   * Cost: two comparisons for a time that is not the partition's largest, else at most log2(partitions) steps; nothing is
   * allocated.
   *
   * @throws {TidemarkError} TM_WINDOW_RECORD_AFTER_FINISHED
   */
  observe(index: number, eventTimeMs: number): boolean
  /** What an accepted mark does, or nothing where it is so already; whether the frontier moved. */
  markActive(index: number): boolean
  markIdle(index: number): boolean
  markFinished(index: number): boolean
  status(index: number): PartitionStatus
  /** What the partition claims, {@link FRONTIER_MIN} before its first record. */
  claim(index: number): Frontier
  /** Whether the partition was idle, is active again, and has not caught up with the frontier since. */
  resumedBehind(index: number): boolean
  /** The partition whose claim is the least that counts; the first of several, `undefined` where none counts. */
  holder(): number | undefined
  state(): FrontierState
}

/**
 * A tracker at its start.
 *
 * @throws {TidemarkError} TM_WINDOW_OPTION_INVALID, TM_WINDOW_STATE_INVALID, TM_WINDOW_HANDOVER_REFUSED
 */
export function createFrontierTracker(options: FrontierOptions): FrontierTracker {
  checkOptions(options)
  return new Tracker(options, startState(options.start, options.partitions, options))
}

const ACTIVE = 0
const IDLE = 1
const FINISHED = 2
const statusNames = ['ACTIVE', 'IDLE', 'FINISHED'] as const

class Tracker implements FrontierTracker {
  readonly partitions: readonly InputPartition[]
  readonly #boundMs: number
  readonly #flushes: boolean
  readonly #excludes: boolean
  readonly #maxTimes: Float64Array
  readonly #statuses: Uint8Array
  readonly #behind: Uint8Array
  /** The claims that count; infinite for a partition that is not waited for. */
  readonly #counted: MinimumTree
  /** In an array, since a double in a field of its own is a new object at every change. */
  readonly #frontier: Float64Array
  #activeCount = 0
  #finishedCount = 0

  constructor(options: FrontierOptions, state: FrontierState) {
    const count = options.partitions.length
    this.partitions = options.partitions
    this.#boundMs = options.boundMs
    this.#flushes = options.allIdle === 'FLUSH_MAX'
    this.#excludes = options.resumeBehind === 'EXCLUDE'
    this.#maxTimes = new Float64Array(count)
    this.#statuses = new Uint8Array(count)
    this.#behind = new Uint8Array(count)
    this.#counted = new MinimumTree(count)
    this.#frontier = Float64Array.of(decodeFrontier(state.frontier))
    for (const [index, { maxEventTimeMs, status, resumedBehind }] of state.partitions.entries()) {
      this.#maxTimes[index] = maxEventTimeMs ?? FRONTIER_MIN
      this.#statuses[index] = statusNames.indexOf(status)
      this.#behind[index] = resumedBehind ? 1 : 0
      if (status === 'ACTIVE') {
        this.#activeCount += 1
        this.#count(index)
      } else if (status === 'FINISHED') {
        this.#finishedCount += 1
      }
    }
    // A restored frontier stands already; a handover that left partitions out may free one.
    if (options.start.kind === 'handover') this.#advance()
  }

  get frontier(): Frontier {
    return this.#frontier[0]!
  }

  observe(index: number, eventTimeMs: number): boolean {
    // The common cases of a busy partition first: nothing but its own largest time can matter.
    if (this.#statuses[index] === ACTIVE && eventTimeMs <= this.#maxTimes[index]!) return false
    return this.#raise(index, eventTimeMs)
  }

  markActive(index: number): boolean {
    if (this.#status(index) === ACTIVE) return false
    this.#refuseFinished(index)
    return this.#resume(index)
  }

  markIdle(index: number): boolean {
    if (this.#status(index) === IDLE) return false
    this.#refuseFinished(index)
    return this.#leave(index, IDLE)
  }

  markFinished(index: number): boolean {
    if (this.#status(index) === FINISHED) return false
    this.#finishedCount += 1
    return this.#leave(index, FINISHED)
  }

  status(index: number): PartitionStatus {
    return statusNames[this.#status(index)]!
  }

  claim(index: number): Frontier {
    return this.#maxTimes[index]! - this.#boundMs
  }

  resumedBehind(index: number): boolean {
    return this.#behind[index] === 1
  }

  holder(): number | undefined {
    return this.#counted.least === Infinity ? undefined : this.#counted.leastIndex
  }

  state(): FrontierState {
    const partitions = this.partitions.map(({ source, partition, generation }, index) => {
      const unclaimed = this.#maxTimes[index] === FRONTIER_MIN
      return {
        source,
        partition,
        generation,
        maxEventTimeMs: unclaimed ? null : this.#maxTimes[index]!,
        claimMs: unclaimed ? null : this.claim(index),
        status: this.status(index),
        resumedBehind: this.resumedBehind(index),
      }
    })
    return { frontier: encodeFrontier(this.frontier), partitions }
  }

  #raise(index: number, eventTimeMs: number): boolean {
    const status = this.#status(index)
    this.#refuseFinished(index)
    if (!Number.isSafeInteger(eventTimeMs)) this.#broken(`event time ${eventTimeMs} was not checked`)
    if (eventTimeMs > this.#maxTimes[index]!) this.#maxTimes[index] = eventTimeMs
    if (status === IDLE) return this.#resume(index)
    this.#count(index)
    return this.#advance()
  }

  #resume(index: number): boolean {
    this.#statuses[index] = ACTIVE
    this.#activeCount += 1
    this.#behind[index] = 1
    this.#count(index)
    return this.#advance()
  }

  #leave(index: number, status: number): boolean {
    if (this.#statuses[index] === ACTIVE) this.#activeCount -= 1
    this.#statuses[index] = status
    this.#behind[index] = 0
    this.#counted.set(index, Infinity)
    return this.#advance()
  }

  /** Puts the claim of an active partition where it counts, once it caught up or if it is waited for anyway. */
  #count(index: number): void {
    const claim = this.claim(index)
    if (claim >= this.frontier) this.#behind[index] = 0
    this.#counted.set(index, this.#excludes && this.#behind[index] === 1 ? Infinity : claim)
  }

  #advance(): boolean {
    const least = this.#counted.least
    const to = least === Infinity ? this.#uncountedTo() : least
    if (to <= this.frontier) return false
    this.#frontier[0] = to
    return true
  }

  /** Where the frontier goes with no claim that counts: nowhere, while a partition that is left out may still catch up. */
  #uncountedTo(): Frontier {
    if (this.#finishedCount === this.partitions.length) return FRONTIER_MAX
    if (this.#activeCount > 0 || !this.#flushes) return FRONTIER_MIN
    let largest = FRONTIER_MIN
    for (let index = 0; index < this.partitions.length; index += 1) largest = Math.max(largest, this.claim(index))
    return largest
  }

  #status(index: number): number {
    const status = this.#statuses[index]
    return status === undefined ? this.#broken(`there is no partition with index ${index}`) : status
  }

  /** The explanation is composed where it is needed: composing it for every record costs ten times the rest. */
  #broken(explanation: string): never {
    throw coreErrors.create('TM_CORE_INVARIANT_VIOLATED', { invariant: 'WIN-24', explanation })
  }

  #refuseFinished(index: number): void {
    if (this.#statuses[index] !== FINISHED) return
    const { source, partition, generation } = this.partitions[index]!
    throw windowErrors.create('TM_WINDOW_RECORD_AFTER_FINISHED', { source, partition, generation })
  }
}

function checkOptions({ partitions, boundMs, allIdle, resumeBehind }: FrontierOptions): void {
  const refuse = (option: string, reason: string): Error =>
    windowErrors.create('TM_WINDOW_OPTION_INVALID', { option, reason })
  if (partitions.length === 0) throw refuse('partitions', 'a frontier over no partition is complete before it began')
  const places = partitions.map(placeOf)
  const twice = places.find((place, index) => places.indexOf(place) !== index)
  if (twice !== undefined) throw refuse('partitions', `${twice} is there twice`)
  if (!Number.isSafeInteger(boundMs) || boundMs < 0 || boundMs > BOUND_MAX_MS) {
    throw refuse('boundMs', `${boundMs} is not a whole number of milliseconds from 0 to ${BOUND_MAX_MS}`)
  }
  if (allIdle !== 'HOLD' && allIdle !== 'FLUSH_MAX') throw refuse('allIdle', 'it is HOLD or FLUSH_MAX')
  if (resumeBehind !== 'HOLD' && resumeBehind !== 'EXCLUDE') throw refuse('resumeBehind', 'it is HOLD or EXCLUDE')
}
