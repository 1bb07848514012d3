import { explainRebuild, rebuild } from '@tidemark/checkpoint'
import type { Projection, RebuildOptions, ReadyTarget, StartPlan } from '@tidemark/checkpoint'
import { cliErrors } from '../errors.ts'
import type { CommandHost } from '../host.ts'
import { openLog } from '../places/open-log.ts'
import type { OpenLog } from '../places/open-log.ts'
import { openStorePlace } from '../places/open-store.ts'
import type { OpenStorePlace } from '../places/store-access.ts'
import type { LogPlace, StorePlace } from '../places/place.ts'
import { loadProjectModule } from '../places/project-module.ts'
import type { ProjectModule } from '../places/project-module.ts'
import { renderRebuild } from '../render/render-rebuild.ts'
import { begunReport, rebuildReport } from '../reports/rebuild-report.ts'
import type { RebuildEnd, RebuildFrame, RebuildReport } from '../reports/rebuild-report.ts'
import { closeQuietly } from './finished.ts'
import type { Finished } from './finished.ts'
import { createProgressLine } from './progress-line.ts'

/** What `rebuild` is asked. */
export interface RebuildSettings {
  readonly log: LogPlace
  readonly store: StorePlace
  readonly topic: string
  readonly namespace: string
  /** A namespace never used. */
  readonly into: string
  readonly dataPrefix: string
  readonly newDataPrefix: string
  readonly data: RebuildOptions<never>['data']
  /** How steps are made on Redis; it decides which writes may exist. */
  readonly form: 'atomic' | 'two-step'
  readonly project: string
  readonly exportName: string
  readonly readyTarget: ReadyTarget
  readonly undecodable: 'stop' | 'quarantine'
  readonly latestRecordPerKeySuffices: boolean
  readonly dataKeysCarryNoExpiry: boolean
  readonly batchRecords: number
  readonly leaseMs: number
  readonly stallMs: number
  /** The new namespace once more, or nothing for a look. */
  readonly execute: string | undefined
  readonly deadlineMs: number
  readonly limit: number
  readonly quiet: boolean
}

/**
 * Rebuilds into a namespace never used, or says what that would do. The only command that writes, and only when
 * `execute` repeats the new namespace. Promises: CLI-5.
 *
 * @throws {TidemarkError} TM_CLI_CONFIRMATION_MISMATCH before anything is opened.
 */
export async function runRebuild(settings: RebuildSettings, host: CommandHost): Promise<Finished> {
  const { execute, into, form } = settings
  if (execute !== undefined && execute !== into) {
    throw cliErrors.create('TM_CLI_CONFIRMATION_MISMATCH', { given: execute.slice(0, 200), due: into })
  }
  const module = await loadProjectModule(settings.project, settings.exportName, host.cwd)
  const { isEmpty } = module
  if (isEmpty === undefined && (settings.store.kind === 'postgres' || settings.store.kind === 'pglite')) {
    const reason =
      'a rebuild on Postgres needs its export "isEmpty", which says whether the tables of the host are empty'
    throw cliErrors.create('TM_CLI_PROJECT_INVALID', { file: settings.project, reason })
  }
  const kind = execute === undefined ? 'read' : 'write'
  const access = { kind, form, ...(isEmpty === undefined ? {} : { isEmpty }) } as const
  const place = await openStorePlace(settings.store, access, settings.deadlineMs)
  try {
    await place.requireForm?.(settings.namespace)
    await place.requireForm?.(into)
    const opened = await openLog(settings.log, settings.deadlineMs)
    try {
      const work = { settings, host, place, opened, frame: frameOf(settings, place.name, opened.name) }
      const report = execute === undefined ? await look(work) : await build(work, module)
      return { report, render: (style) => renderRebuild(report, style) }
    } finally {
      await closeQuietly(opened.log)
    }
  } finally {
    await closeQuietly(place)
  }
}

interface Work {
  readonly settings: RebuildSettings
  readonly host: CommandHost
  readonly place: OpenStorePlace
  readonly opened: OpenLog
  readonly frame: RebuildFrame
}

function frameOf(settings: RebuildSettings, store: string, log: string): RebuildFrame {
  const { namespace, into, topic, data, execute } = settings
  return { from: namespace, into, topic, store, log, data: data.kind, executed: execute !== undefined }
}

function declarations({ latestRecordPerKeySuffices, dataKeysCarryNoExpiry }: RebuildSettings) {
  return { latestRecordPerKeySuffices, dataKeysCarryNoExpiry }
}

async function look({ settings, host, place, opened, frame }: Work): Promise<RebuildReport> {
  const { topic, readyTarget, deadlineMs, data } = settings
  const store = place.store(settings.into, settings.newDataPrefix)
  const outcome = await explainRebuild({
    projection: {
      topic,
      log: opened.log,
      store,
      readyTarget,
      declarations: declarations(settings),
      inspectMsMax: deadlineMs,
      signal: host.signal,
    },
    old: place.store(settings.namespace, settings.dataPrefix),
    data,
  })
  return rebuildReport(frame, outcome, settings.limit)
}

async function build({ settings, host, place, opened, frame }: Work, module: ProjectModule): Promise<RebuildReport> {
  const { topic, readyTarget, undecodable, leaseMs, batchRecords, stallMs, deadlineMs, data } = settings
  const outcome = await rebuild({
    projection: {
      topic,
      log: opened.log,
      store: place.store(settings.into, settings.newDataPrefix),
      project: module.project,
      readyTarget,
      undecodable,
      leaseMs,
      limits: {
        batchRecordsMax: batchRecords,
        stallMsMax: stallMs,
        inspectMsMax: Math.min(deadlineMs, stallMs),
      },
      declarations: declarations(settings),
    },
    old: place.store(settings.namespace, settings.dataPrefix),
    data,
  })
  if (outcome.kind === 'started') return follow({ settings, host, frame }, outcome.projection, outcome.start.plan)
  return rebuildReport(frame, outcome, settings.limit)
}

/** Follows a running rebuild until it is ready, dirty or interrupted, and stops it. */
async function follow(
  { settings, host, frame }: Pick<Work, 'settings' | 'host' | 'frame'>,
  projection: Projection,
  plan: StartPlan,
): Promise<RebuildReport> {
  const progress = createProgressLine(host, !settings.quiet)
  let end: RebuildEnd | undefined
  while (end === undefined) {
    if (host.signal.aborted) end = { kind: 'interrupted' }
    else {
      const now = await projection.caughtUp({ deadlineMs: 200 })
      if (now.kind === 'ready') end = { kind: 'rebuilt' }
      else if (now.kind === 'dirty') end = { kind: 'dirty', reason: now.reason }
      else if (now.kind === 'stopped') end = { kind: 'interrupted' }
      else progress.tell(() => now.explanation)
    }
  }
  const { counters } = projection.status()
  await projection.stop()
  const applied = { records: counters.recordsApplied, quarantined: counters.quarantinedHere }
  return begunReport(frame, plan, applied, end)
}
