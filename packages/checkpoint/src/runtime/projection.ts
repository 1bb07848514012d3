import { coreErrors, createCancelSource, systemClock, withDeadline } from '@tidemark/core'
import type { Clock } from '@tidemark/core'
import type { LogReader } from '@tidemark/log'
import { checkpointErrors } from '../errors.ts'
import type { Refusal } from '../refusal.ts'
import type { PlanVerdict, StartPlan } from '../start-planner.ts'
import { dirtyReasonOfThrown } from './dirty-reason.ts'
import type { DirtyReason } from './dirty-reason.ts'
import type { ProjectionObserver } from './projection-observer.ts'
import { resolveOptions } from './projection-options.ts'
import type { ProjectionOptions, ResolvedOptions } from './projection-options.ts'
import { startRun } from './run/projection-run.ts'
import type { ProjectionRun } from './run/projection-run.ts'
import { orStartFailed } from './or-start-failed.ts'
import { projectionTransitions } from './projection-state.ts'
import type { ProjectionEvent, ProjectionState } from './projection-state.ts'
import { catchingUpSentence, partitionStatus } from './projection-status.ts'
import type { PartitionStatus, ProjectionStatus } from './projection-status.ts'
import { noRunCounts } from './run/run-context.ts'
import { claimStart, dryRunStart } from './start-sequence.ts'

/** A projection of one topic into one store, from its checkpoints or not at all. */
export interface Projection {
  /** What a start would decide now; changes nothing. May be asked at any time before the start. */
  explain(): Promise<PlanVerdict>
  /**
   * Starts, or says every reason why not.
   *
   * @throws {TidemarkError} TM_CHECKPOINT_START_FAILED when log or store cannot be asked; TM_CHECKPOINT_ALREADY_STARTED.
   */
  start(): Promise<StartOutcome>
  /** Waits until the projection is ready, dirty or stopped, or for so long. The projection goes on after a time-out. */
  caughtUp(options?: { readonly deadlineMs?: number }): Promise<CaughtUp>
  /** Resolves once the projection went dirty or was stopped. */
  ended(): Promise<{ readonly kind: 'dirty'; readonly reason: DirtyReason } | { readonly kind: 'stopped' }>
  /** Where it stands. Cheap; safe to call from every health probe. */
  status(): ProjectionStatus
  /** Adds an observer beside the one of the options, from now on; returns what removes it. */
  observe(observer: ProjectionObserver): () => void
  /** Applies what is fetched and proven, then closes reader, log and store. A crash instead is as safe. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** What came of a start. */
export type StartOutcome =
  | { readonly kind: 'started'; readonly plan: StartPlan }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }

/** What came of waiting. */
export type CaughtUp =
  | { readonly kind: 'ready' }
  | { readonly kind: 'timed-out'; readonly explanation: string; readonly waiting: readonly PartitionStatus[] }
  | { readonly kind: 'dirty'; readonly reason: DirtyReason }
  | { readonly kind: 'stopped' }

/**
 * Makes a projection; nothing is opened before {@link Projection.start}.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_OPTION_INVALID and the like for options that make no sense.
 */
export function createProjection<Writer>(options: ProjectionOptions<Writer>): Projection {
  return new RunningProjection({ ...resolveOptions(options), clock: options.clock ?? systemClock })
}

class RunningProjection<Writer> implements Projection {
  readonly options: ResolvedOptions<Writer> & { readonly clock: Clock }
  readonly cancel = createCancelSource()
  state: ProjectionState = 'starting'
  dirty: DirtyReason | undefined
  reader: LogReader | undefined
  run: ProjectionRun | undefined
  stopping: Promise<void> | undefined
  beganAtMs: number | undefined
  readyAtMs: number | undefined
  observerFailures = 0
  observers: readonly { readonly observer: ProjectionObserver }[]
  waiters = new Set<() => void>()

  constructor(options: ResolvedOptions<Writer> & { readonly clock: Clock }) {
    this.options = options
    this.observers = options.observer === undefined ? [] : [{ observer: options.observer }]
  }

  async explain(): Promise<PlanVerdict> {
    return (await dryRunStart(this.options, this.cancel.signal)).verdict
  }

  async start(): Promise<StartOutcome> {
    if (this.beganAtMs !== undefined || this.state !== 'starting') {
      throw checkpointErrors.create('TM_CHECKPOINT_ALREADY_STARTED', { state: this.state })
    }
    this.beganAtMs = this.options.clock.monotonicMs()
    try {
      const result = await claimStart(this.options, this.cancel.signal)
      if (result.kind === 'refused') {
        this.move('refused')
        await this.close()
        return result
      }
      this.reader = await this.openReader(result.plan)
      if (this.cancel.signal.aborted) throw coreErrors.create('TM_CORE_CANCELLED', { what: 'the start' })
      this.move('started')
      this.run = startRun({
        options: this.options,
        start: result,
        reader: this.reader,
        signal: this.cancel.signal,
        fail: (reason) => this.fail(reason),
        caughtUp: () => this.move('caught-up'),
        notify: (call) => this.notify(call),
      })
      return { kind: 'started', plan: result.plan }
    } catch (error) {
      this.fail(dirtyReasonOfThrown('START_FAILED', 'starting', error))
      await this.close()
      throw error
    }
  }

  openReader(plan: StartPlan): Promise<LogReader> {
    const { topic, log, limits } = this.options
    const positions = plan.partitions.map(({ partition, nextOffset }) => ({ partition, nextOffset }))
    const { identity } = plan
    const request = { topic, positions, identity, deadlineMs: limits.stallMsMax, signal: this.cancel.signal }
    return orStartFailed(topic, 'opening the reader', () => log.openReader(request))
  }

  async caughtUp(options: { readonly deadlineMs?: number } = {}): Promise<CaughtUp> {
    const { clock } = this.options
    const startedMs = clock.monotonicMs()
    for (;;) {
      if (this.dirty !== undefined) return { kind: 'dirty', reason: this.dirty }
      if (this.state === 'stopped') return { kind: 'stopped' }
      if (this.state === 'ready') return { kind: 'ready' }
      const leftMs =
        options.deadlineMs === undefined ? undefined : options.deadlineMs - (clock.monotonicMs() - startedMs)
      if (leftMs !== undefined && leftMs <= 0) return this.timedOut()
      await this.stateChange(leftMs)
    }
  }

  timedOut(): CaughtUp {
    const partitions = this.status().partitions
    const waiting = partitions.filter((partition) => !partition.caughtUp)
    return { kind: 'timed-out', explanation: catchingUpSentence(partitions), waiting }
  }

  async ended(): Promise<{ kind: 'dirty'; reason: DirtyReason } | { kind: 'stopped' }> {
    for (;;) {
      if (this.dirty !== undefined) return { kind: 'dirty', reason: this.dirty }
      if (this.state === 'stopped') return { kind: 'stopped' }
      await this.stateChange(undefined)
    }
  }

  /** Resolves at the next change of state, or after a time. */
  async stateChange(leftMs: number | undefined): Promise<void> {
    const over = createCancelSource()
    const changed = new Promise<void>((resolve) => {
      const listener = (): void => {
        this.waiters.delete(listener)
        resolve()
      }
      this.waiters.add(listener)
      over.signal.addEventListener('abort', listener, { once: true })
    })
    if (leftMs === undefined) return changed
    await Promise.race([changed, this.options.clock.sleep(leftMs, over.signal)])
    over.cancel()
  }

  status(): ProjectionStatus {
    const { clock, topic, store } = this.options
    const nowMs = clock.monotonicMs()
    const run = this.run
    const partitions = run === undefined ? [] : run.lanes.map((lane) => partitionStatus(lane, nowMs))
    const expired = run?.leaseExpired() ?? false
    const ready = this.state === 'ready' && !expired
    const leases =
      run === undefined
        ? {}
        : {
            identity: run.identity,
            identityAgeMs: Math.round(nowMs - run.provenAtMs),
            leaseAgeMs: Math.round(nowMs - run.confirmedAtMs),
          }
    return {
      state: this.state,
      ready,
      ...(ready ? {} : { notReadyBecause: this.notReadyBecause(partitions, expired) }),
      ...(this.dirty === undefined ? {} : { dirty: this.dirty }),
      topic,
      namespace: store.namespace,
      ...leases,
      ...this.timeToReady(),
      counters: { ...(run?.counts ?? noRunCounts()), observerFailures: this.observerFailures },
      partitions,
    }
  }

  timeToReady(): { readonly timeToReadyMs?: number } {
    if (this.beganAtMs === undefined || this.readyAtMs === undefined) return {}
    return { timeToReadyMs: Math.round(this.readyAtMs - this.beganAtMs) }
  }

  observe(observer: ProjectionObserver): () => void {
    // An entry of its own per call: an observer added twice is told twice, and each removal removes its own.
    const added = { observer }
    this.observers = [...this.observers, added]
    return () => {
      this.observers = this.observers.filter((other) => other !== added)
    }
  }

  notReadyBecause(partitions: readonly PartitionStatus[], expired: boolean): string {
    switch (this.state) {
      case 'starting':
        return 'the start has not been decided yet'
      case 'catching-up':
        return catchingUpSentence(partitions)
      case 'ready':
        return expired ? 'identity and store have not been confirmed for too long' : 'ready'
      case 'dirty':
        return `${this.dirty!.code}: ${this.dirty!.message}`
      case 'stopped':
        return this.dirty === undefined ? 'stopped' : `stopped after ${this.dirty.code}: ${this.dirty.message}`
    }
  }

  stop(): Promise<void> {
    this.stopping ??= this.stopOnce()
    return this.stopping
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.stop()
  }

  async stopOnce(): Promise<void> {
    const { clock, limits } = this.options
    if (this.run !== undefined && this.dirty === undefined) {
      // What cannot be finished in time is replayed at the next start, so a time-out here loses nothing.
      await withDeadline(clock, 'draining', limits.stopMsMax, this.run.drain()).catch(() => undefined)
    }
    this.move('stopped')
    await this.close()
  }

  fail(reason: DirtyReason): void {
    if (projectionTransitions[this.state].failed === undefined) return
    this.dirty = reason
    this.move('failed')
    void this.closeReader()
  }

  move(event: ProjectionEvent): void {
    const next = projectionTransitions[this.state][event]
    if (next === undefined) return
    this.state = next
    if (next === 'ready') this.readyAtMs ??= this.options.clock.monotonicMs()
    if (next === 'dirty' || next === 'stopped') this.cancel.cancel()
    this.notify((observer) => observer.onState?.(next, this.dirty))
    for (const waiter of [...this.waiters]) waiter()
  }

  async close(): Promise<void> {
    await this.closeReader()
    const { log, store } = this.options
    await Promise.all([this.closePort(log), this.closePort(store)])
  }

  async closeReader(): Promise<void> {
    const reader = this.reader
    this.reader = undefined
    if (reader !== undefined) await this.closePort(reader)
  }

  /** A port that fails or hangs while closing must not hold up the others; nothing depends on what it still does. */
  async closePort(port: { close(): Promise<void> }): Promise<void> {
    try {
      await withDeadline(this.options.clock, 'closing', 5_000, port.close())
    } catch {
      // Everything confirmed is confirmed; what a port leaves open ends with the process.
    }
  }

  notify(call: (observer: ProjectionObserver) => void): void {
    for (const { observer } of this.observers) {
      try {
        call(observer)
      } catch {
        this.observerFailures += 1
      }
    }
  }
}
