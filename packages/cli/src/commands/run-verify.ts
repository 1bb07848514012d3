import { verifyProjection } from '@tidemark/checkpoint'
import { systemClock } from '@tidemark/core'
import type { CommandHost } from '../host.ts'
import { openLog } from '../places/open-log.ts'
import { openStorePlace } from '../places/open-store.ts'
import type { LogPlace, StorePlace } from '../places/place.ts'
import { loadProjectModule } from '../places/project-module.ts'
import { LOOKING } from '../places/store-access.ts'
import { counted, grouped } from '../render/printable.ts'
import { renderVerify } from '../render/render-verify.ts'
import { verifyReport } from '../reports/verify-report.ts'
import { closeQuietly } from './finished.ts'
import type { Finished } from './finished.ts'
import { createProgressLine } from './progress-line.ts'

/** What `verify` is asked. */
export interface VerifySettings {
  readonly log: LogPlace
  readonly store: StorePlace
  readonly namespace: string
  readonly topic: string
  readonly dataPrefix: string
  /** The host's module, relative to where the command runs. */
  readonly project: string
  readonly exportName: string
  readonly latestRecordPerKeySuffices: boolean
  /** Keys of the recomputed data held in memory at most. */
  readonly keysMax: number
  /** How long the log may deliver nothing. */
  readonly stallMs: number
  readonly deadlineMs: number
  readonly limit: number
  readonly quiet: boolean
}

/** Whether what is served is what the log says. Writes nothing. Promises: CLI-4. */
export async function runVerify(settings: VerifySettings, host: CommandHost): Promise<Finished> {
  const { namespace, topic, dataPrefix, keysMax, deadlineMs, limit, latestRecordPerKeySuffices } = settings
  const { project, canonical } = await loadProjectModule(settings.project, settings.exportName, host.cwd)
  const place = await openStorePlace(settings.store, LOOKING, deadlineMs)
  const progress = createProgressLine(host, !settings.quiet)
  const startedMs = systemClock.monotonicMs()
  try {
    const store = place.store(namespace, dataPrefix)
    await place.requireForm?.(namespace)
    const { log, name } = await openLog(settings.log, deadlineMs)
    try {
      const verified = await verifyProjection({
        topic,
        log,
        store,
        project,
        data: place.data(dataPrefix),
        ...(canonical === undefined ? {} : { canonical }),
        declarations: { latestRecordPerKeySuffices },
        clock: systemClock,
        limits: { keysMax, inspectMsMax: deadlineMs, stallMsMax: settings.stallMs, differencesMax: limit },
        signal: host.signal,
        onProgress: ({ recordsRead, offsetsLeft }) =>
          progress.tell(() => {
            const perSecond = Math.round((recordsRead * 1_000) / (systemClock.monotonicMs() - startedMs))
            return `read ${counted(recordsRead, 'record')}, ${counted(offsetsLeft, 'offset')} left (${grouped(perSecond)}/s)`
          }),
      })
      const report = verifyReport({ namespace, topic, store: place.name, log: name }, verified)
      return { report, render: (style) => renderVerify(report, style) }
    } finally {
      await closeQuietly(log)
    }
  } finally {
    await closeQuietly(place)
  }
}
