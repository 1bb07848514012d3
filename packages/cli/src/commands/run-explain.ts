import { explainStart } from '@tidemark/checkpoint'
import type { PlanDeclarations, ReadyTarget, StartExplanation } from '@tidemark/checkpoint'
import type { CommandHost } from '../host.ts'
import { openLog } from '../places/open-log.ts'
import { openStorePlace } from '../places/open-store.ts'
import type { LogPlace, StorePlace } from '../places/place.ts'
import { LOOKING } from '../places/store-access.ts'
import { renderExplain } from '../render/render-explain.ts'
import { explainReport } from '../reports/explain-report.ts'
import { closeQuietly } from './finished.ts'
import type { Finished } from './finished.ts'

/** What `explain` is asked. */
export interface ExplainSettings {
  readonly log: LogPlace
  readonly store: StorePlace
  readonly namespace: string
  readonly topic: string
  readonly readyTarget: ReadyTarget
  readonly declarations: PlanDeclarations
  /** Walk every key of the namespace too. */
  readonly deep: boolean
  readonly deadlineMs: number
  readonly limit: number
}

/** A mistyped namespace looks like a first start, and the verdict alone is a good one. */
function firstStartHint({ verdict, observed }: StartExplanation): string | undefined {
  if (verdict.kind !== 'start' || !verdict.createMeta) return undefined
  return `Nothing is stored under ${observed.namespace}: this would be a first start. If a projection ran here before, look at the name and the place.`
}

/** The dry run of a start, by the library that starts. Writes nothing. Promises: CLI-1, CLI-2. */
export async function runExplain(settings: ExplainSettings, host: CommandHost): Promise<Finished> {
  const { namespace, topic, readyTarget, declarations, deadlineMs, limit } = settings
  const place = await openStorePlace(settings.store, LOOKING, deadlineMs)
  try {
    const store = place.store(namespace)
    await place.requireForm?.(namespace)
    const deep = settings.deep ? place.inspector(namespace) : undefined
    const { log, name } = await openLog(settings.log, deadlineMs)
    try {
      const explanation = await explainStart({
        topic,
        log,
        store,
        readyTarget,
        declarations,
        inspectMsMax: deadlineMs,
        signal: host.signal,
        ...(deep === undefined ? {} : { deep }),
      })
      const hint = place.hint?.(explanation.observed.stored) ?? firstStartHint(explanation)
      const report = explainReport({ store: place.name, log: name, hint }, explanation, limit)
      return { report, render: (style) => renderExplain(report, style) }
    } finally {
      await closeQuietly(log)
    }
  } finally {
    await closeQuietly(place)
  }
}
