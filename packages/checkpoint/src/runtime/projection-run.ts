import { withDeadline } from '@tidemark/core'
import type { CancelSignal, Clock } from '@tidemark/core'
import { decideIdleLease } from '@tidemark/log'
import type { LogIdentity, LogReader, PollResult, SurveyVerdict } from '@tidemark/log'
import type { AdvanceOutcome } from '../projection-store.ts'
import { createApplyScheduler } from './apply-scheduler.ts'
import type { ApplyScheduler } from './apply-scheduler.ts'
import { dirtyReason, dirtyReasonOfThrown } from './dirty-reason.ts'
import type { DirtyReason } from './dirty-reason.ts'
import { createIdentityGuard } from './identity-guard.ts'
import type { IdentityGuard } from './identity-guard.ts'
import { createPartitionLane } from './partition-lane.ts'
import type { PartitionLane } from './partition-lane.ts'
import { watchProgress } from './progress-watch.ts'
import type { ProjectionObserver } from './projection-observer.ts'
import type { ResolvedOptions } from './projection-options.ts'
import type { ClaimedStart } from './start-sequence.ts'
import { buildStep } from './step-builder.ts'
import type { BuiltStep } from './step-builder.ts'
import { judgeRecheck } from './store-recheck.ts'

/** The running part of a projection: fetch, prove, apply, re-read. */
export interface ProjectionRun {
  readonly identity: LogIdentity
  readonly lanes: readonly PartitionLane[]
  readonly guard: IdentityGuard
  /** Monotonic time of the last complete re-read of identity, store and bounds. */
  readonly confirmedAtMs: number
  readonly counts: RunCounts
  /** Whether the periodic re-read is overdue, so that nothing may be served. */
  leaseExpired(): boolean
  /** Applies what is fetched and proven, fetching no more; resolves when done or when the signal ends the run. */
  drain(): Promise<void>
}

/** Totals of a run. */
export interface RunCounts {
  recordsApplied: number
  stepsApplied: number
  stepsResent: number
  conflicts: number
  identityChecks: number
  quarantinedHere: number
}

/** What a run tells its owner. */
export interface RunEvents {
  /** The run cannot go on. Called at least once before the run does nothing more. */
  failed(reason: DirtyReason): void
  /** Every partition reached its target and a check that started afterwards proved the identity. */
  caughtUp(): void
  /** Calls one hook of the observer, shielded from what it throws. */
  notify(call: (observer: ProjectionObserver) => void): void
}

/** Pause between identity checks that got no answer. */
const retryMs = 100

/** How many records one poll may bring per assigned partition, within reason. */
const pollRecordsMax = 10_000

/** Starts fetching and applying. Everything ends when the signal is aborted. */
export function startRun<Writer>(
  options: ResolvedOptions<Writer> & { readonly clock: Clock },
  start: ClaimedStart,
  reader: LogReader,
  signal: CancelSignal,
  events: RunEvents,
): ProjectionRun {
  const run = new Run(options, start, reader, signal, events)
  run.begin()
  return run
}

class Run<Writer> implements ProjectionRun {
  readonly options: ResolvedOptions<Writer> & { readonly clock: Clock }
  readonly start: ClaimedStart
  readonly reader: LogReader
  readonly signal: CancelSignal
  readonly events: RunEvents
  readonly identity: LogIdentity
  readonly lanes: readonly PartitionLane[]
  readonly laneOf: ReadonlyMap<number, PartitionLane>
  readonly guard: IdentityGuard
  readonly scheduler: ApplyScheduler
  readonly counts: RunCounts = {
    recordsApplied: 0,
    stepsApplied: 0,
    stepsResent: 0,
    conflicts: 0,
    identityChecks: 0,
    quarantinedHere: 0,
  }
  confirmedAtMs: number
  /** The store's server process that was last verified to hold our state. */
  process: string
  recheck: Promise<void> | undefined
  fetching = true
  confirming = false
  waitingForRoom: (() => void) | undefined

  constructor(
    options: ResolvedOptions<Writer> & { readonly clock: Clock },
    start: ClaimedStart,
    reader: LogReader,
    signal: CancelSignal,
    events: RunEvents,
  ) {
    this.options = options
    this.start = start
    this.reader = reader
    this.signal = signal
    this.events = events
    this.identity = start.plan.identity
    this.process = start.process
    this.confirmedAtMs = options.clock.monotonicMs()
    this.lanes = start.plan.partitions.map(createPartitionLane)
    for (const lane of this.lanes) lane.quarantined = start.quarantined.get(lane.partition) ?? 0
    this.laneOf = new Map(this.lanes.map((lane) => [lane.partition, lane]))
    this.scheduler = createApplyScheduler(options.limits.stepsInFlightMax, (lane) =>
      this.applyStep(lane).catch((error: unknown): 'nothing' => {
        this.fail(dirtyReasonOfThrown('INTERNAL', `applying partition ${lane.partition}`, error, lane.partition))
        return 'nothing'
      }),
    )
    this.guard = createIdentityGuard({
      inspector: options.log.inspector,
      reader,
      held: start.plan.identity,
      clock: options.clock,
      signal,
      inspectMsMax: options.limits.inspectMsMax,
      stallMsMax: options.limits.stallMsMax,
      retryMs,
      onChecked: (verdict, durationMs) => this.onChecked(verdict, durationMs),
    })
  }

  begin(): void {
    this.signal.addEventListener('abort', () => this.waitingForRoom?.(), { once: true })
    this.spawn('fetching', this.fetchLoop())
    this.spawn('re-reading identity and store', this.leaseLoop())
    this.confirmIfCaughtUp()
  }

  async drain(): Promise<void> {
    this.fetching = false
    this.waitingForRoom?.()
    // What is fetched but unproven waits for one more check; a check without an answer ends the wait with the stop's deadline.
    while (!this.signal.aborted && this.lanes.some((lane) => lane.headFetch !== undefined)) {
      await this.guard.freshVerdict()
      await this.scheduler.whenIdle()
    }
  }

  leaseExpired(): boolean {
    const { leaseMs, limits, clock } = this.options
    const lease = { leaseMs, stallMsMax: limits.stallMsMax, confirmedAtMs: this.confirmedAtMs }
    return decideIdleLease(lease, clock.monotonicMs()).kind === 'expired'
  }

  // --- fetch -> lanes

  async fetchLoop(): Promise<void> {
    const { limits, leaseMs } = this.options
    const recordsMax = Math.min(pollRecordsMax, limits.queuedRecordsMax * Math.max(1, this.lanes.length))
    while (this.fetching && !this.signal.aborted) {
      await this.roomInQueue()
      if (!this.fetching || this.signal.aborted) return
      const result = await this.reader.poll({ recordsMax, waitMs: Math.min(leaseMs, 100) })
      if (this.signal.aborted) return
      if (result.kind === 'failed') return this.readFailed(result)
      if (result.batches.length > 0) this.takeBatches(result)
    }
  }

  takeBatches(result: Extract<PollResult, { kind: 'fetched' }>): void {
    const fetch = this.guard.countFetch()
    for (const batch of result.batches) {
      const lane = this.laneOf.get(batch.partition)
      if (lane === undefined) {
        const message = `the log delivered partition ${batch.partition}, which was not assigned`
        return this.fail(dirtyReason('READ_FAILED', message, {}, batch.partition))
      }
      const fault = lane.enqueue(batch, fetch)
      if (fault !== undefined) {
        const { partition, expected, found } = fault
        const message = `partition ${partition} delivered ${found} where ${expected} or more was due`
        const values = { expected: String(expected), found: String(found) }
        return this.fail(dirtyReason('OFFSETS_BACKWARDS', message, values, partition))
      }
      if (!lane.paused && lane.queuedRecords >= this.options.limits.queuedRecordsMax) {
        lane.paused = true
        this.reader.pause([lane.partition])
      }
    }
  }

  readFailed(result: Extract<PollResult, { kind: 'failed' }>): void {
    const { reason, partition, message } = result.failure
    const code = reason === 'out-of-range' ? 'OUT_OF_RANGE' : 'READ_FAILED'
    this.fail(dirtyReason(code, message, { reason }, partition))
  }

  async roomInQueue(): Promise<void> {
    while (this.queuedBytes() >= this.options.limits.queuedBytesMax && this.fetching && !this.signal.aborted) {
      await new Promise<void>((resolve) => {
        this.waitingForRoom = resolve
      })
    }
  }

  queuedBytes(): number {
    let bytes = 0
    for (const lane of this.lanes) bytes += lane.queuedBytes
    return bytes
  }

  // --- prove -> apply

  onChecked(verdict: SurveyVerdict, durationMs: number): void {
    this.counts.identityChecks += 1
    this.events.notify((observer) => observer.onIdentityCheck?.(verdict, durationMs))
    if (this.signal.aborted) return
    if (verdict.kind === 'mismatch') {
      const text = verdict.differences.map((d) => `${d.field} was ${d.expected}, is ${d.found}`).join('; ')
      const values = { broker: verdict.brokerId, differences: verdict.differences.map((d) => ({ ...d })) }
      return this.fail(dirtyReason('IDENTITY_MISMATCH', `broker ${verdict.brokerId}: ${text}`, values))
    }
    if (verdict.kind === 'unproven') return this.checkUnansweredTime(verdict)
    for (const lane of this.lanes) if (lane.headFetch !== undefined) this.scheduler.kick(lane)
  }

  checkUnansweredTime(verdict: Extract<SurveyVerdict, { kind: 'unproven' }>): void {
    const { clock, limits } = this.options
    const since = this.guard.lease.unansweredSinceMs
    const unansweredMs = since === undefined ? 0 : clock.monotonicMs() - since
    if (unansweredMs <= limits.stallMsMax) return
    const message = `no proof of identity for ${Math.round(unansweredMs)} ms (${verdict.reason}): ${verdict.message}`
    this.fail(dirtyReason('IDENTITY_UNPROVEN', message, { broker: verdict.brokerId, reason: verdict.reason }))
  }

  async applyStep(lane: PartitionLane): Promise<'more' | 'nothing'> {
    if (this.signal.aborted || lane.headFetch === undefined) return 'nothing'
    if (this.guard.decide(lane.headFetch).kind !== 'apply') return 'nothing'
    const { project, undecodable, limits, store } = this.options
    const step = buildStep(lane.provenItems(this.guard.lease.proven), {
      project,
      undecodable,
      recordsMax: limits.batchRecordsMax,
      limits: store.stepLimits,
      newWrites: () => store.newWrites(),
    })
    switch (step.kind) {
      case 'nothing':
        return 'nothing'
      case 'undecodable': {
        const message = `record ${step.offset} of partition ${lane.partition} cannot be projected: ${step.reason}`
        this.fail(dirtyReason('UNDECODABLE', message, { offset: String(step.offset) }, lane.partition))
        return 'nothing'
      }
      case 'threw': {
        const doing = `projecting record ${step.offset} of partition ${lane.partition}`
        this.fail(dirtyReasonOfThrown('PROJECT_FAILED', doing, step.error, lane.partition))
        return 'nothing'
      }
      case 'step':
        return this.advance(lane, step)
    }
  }

  async advance(lane: PartitionLane, step: BuiltStep<Writer>): Promise<'more' | 'nothing'> {
    const { store, clock } = this.options
    const fence = this.start.claim.fences.get(lane.partition)!
    const startedMs = clock.monotonicMs()
    lane.begin(step.to)
    let outcome: AdvanceOutcome
    try {
      outcome = await store.advance({
        identity: this.start.plan.identity,
        partition: lane.partition,
        fence,
        process: this.process,
        from: lane.next,
        to: step.to,
        writes: step.writes,
        witness: step.witness,
        quarantine: step.quarantine,
      })
    } catch (error) {
      this.fail(dirtyReasonOfThrown('STORE_FAILED', `writing partition ${lane.partition}`, error, lane.partition))
      return 'nothing'
    }
    if (outcome.kind !== 'advanced') return this.lost(lane, outcome)
    this.advanced(lane, step, outcome.resent, clock.monotonicMs() - startedMs)
    return 'more'
  }

  advanced(lane: PartitionLane, step: BuiltStep<Writer>, resent: boolean, durationMs: number): void {
    lane.finish()
    lane.stalledSinceMs = undefined
    lane.quarantined += step.quarantine.length
    this.counts.recordsApplied += step.records
    this.counts.stepsApplied += 1
    this.counts.stepsResent += resent ? 1 : 0
    this.counts.quarantinedHere += step.quarantine.length
    const { partition } = lane
    const report = {
      partition,
      records: step.records,
      writes: step.writes.writeCount,
      nextOffset: step.to,
      resent,
      durationMs,
    }
    this.events.notify((observer) => observer.onStep?.(report))
    for (const entry of step.quarantine) this.events.notify((observer) => observer.onQuarantine?.(entry))
    if (lane.paused && lane.queuedRecords <= this.options.limits.queuedRecordsMax / 2 && !this.signal.aborted) {
      lane.paused = false
      this.reader.resume([partition])
    }
    this.waitingForRoom?.()
    this.confirmIfCaughtUp()
  }

  async lost(lane: PartitionLane, outcome: Exclude<AdvanceOutcome, { kind: 'advanced' }>): Promise<'more' | 'nothing'> {
    lane.begin(lane.next)
    this.counts.conflicts += 1
    const { partition } = lane
    this.events.notify((observer) => observer.onConflict?.(partition, outcome.kind))
    switch (outcome.kind) {
      case 'process-changed':
        // Nothing was written. The step is built again once everything has been re-read and found to be ours.
        await this.recheckStore()
        return this.signal.aborted ? 'nothing' : 'more'
      case 'fenced': {
        const found = outcome.found ?? 'none'
        this.fail(dirtyReason('FENCED', `partition ${partition} was claimed by another writer`, { found }, partition))
        return 'nothing'
      }
      case 'conflict': {
        const { key, field, expected } = outcome
        const found = outcome.found ?? null
        const message = `${key}: ${field} is ${found ?? 'missing'}, ${expected} was due`
        this.fail(dirtyReason('CONFLICT', message, { key, field, expected, found }, partition))
        return 'nothing'
      }
    }
  }

  // --- caught up

  confirmIfCaughtUp(): void {
    if (this.confirming || !this.lanes.every((lane) => lane.next >= lane.target)) return
    this.confirming = true
    this.spawn('confirming the identity', this.confirmIdentity())
  }

  async confirmIdentity(): Promise<void> {
    while (!this.signal.aborted) {
      const verdict = await this.guard.freshVerdict()
      if (this.signal.aborted) return
      if (verdict.kind === 'proven') return this.events.caughtUp()
      await this.options.clock.sleep(retryMs, this.signal)
    }
  }

  // --- re-read, also without records

  async leaseLoop(): Promise<void> {
    const { clock, leaseMs } = this.options
    while (!this.signal.aborted) {
      await clock.sleep(leaseMs, this.signal)
      if (this.signal.aborted) return
      const askedAtMs = clock.monotonicMs()
      const [verdict] = await Promise.all([this.guard.freshVerdict(), this.recheckStore(), this.rereadBounds()])
      if (verdict.kind === 'proven' && !this.signal.aborted) this.confirmedAtMs = askedAtMs
    }
  }

  /** Re-reads the store and adopts its process, or fails. One reading at a time serves everyone who asks meanwhile. */
  recheckStore(): Promise<void> {
    this.recheck ??= this.readStoreAgain().finally(() => {
      this.recheck = undefined
    })
    return this.recheck
  }

  async readStoreAgain(): Promise<void> {
    const { store, topic, limits, clock } = this.options
    const { identity } = this.start.plan
    const lowest = new Map(this.lanes.map((lane) => [lane.partition, lane.next]))
    try {
      const reading = store.read({ topic, partitionCount: identity.partitionCount })
      const stored = await withDeadline(clock, 're-reading the stored state', limits.stallMsMax, reading)
      const positions = new Map(
        this.lanes.map((lane) => [lane.partition, { lowest: lowest.get(lane.partition)!, highest: lane.inFlightTo }]),
      )
      const { fences, nonce } = this.start.claim
      const change = judgeRecheck({ identity, nonce, fences, positions }, stored)
      if (change !== undefined) return this.fail(change)
      this.process = stored.incarnation.process
    } catch (error) {
      this.fail(dirtyReasonOfThrown('STORE_FAILED', 're-reading the stored state', error))
    }
  }

  async rereadBounds(): Promise<void> {
    const { log, topic, limits, clock } = this.options
    const before = new Map(this.lanes.map((lane) => [lane.partition, lane.next]))
    const { partitionCount } = this.start.plan.identity
    const inspect = { deadlineMs: limits.inspectMsMax, signal: this.signal }
    const reading = await log.inspector.readBounds(topic, partitionCount, inspect)
    // Unreadable bounds prove nothing either way; the identity lease bounds how long brokers may stay silent.
    if (reading.kind === 'unreadable') return
    for (const bounds of reading.partitions) {
      const lane = this.laneOf.get(bounds.partition)
      if (lane === undefined) continue
      const reason = watchProgress(lane, bounds, before.get(bounds.partition)!, clock.monotonicMs(), limits.stallMsMax)
      if (reason !== undefined) return this.fail(reason)
    }
  }

  fail(reason: DirtyReason): void {
    if (!this.signal.aborted) this.events.failed(reason)
  }

  /** Runs a loop whose own rejection would otherwise be nobody's. */
  spawn(doing: string, loop: Promise<void>): void {
    loop.catch((error: unknown) => this.fail(dirtyReasonOfThrown('INTERNAL', doing, error)))
  }
}
