import { inspectNamespace } from '@tidemark/checkpoint'
import type { NamespaceInspection, QuarantineListing, StoreInspector } from '@tidemark/checkpoint'
import { coreErrors } from '@tidemark/core'
import type { CommandHost } from '../host.ts'
import { openStorePlace } from '../places/open-store.ts'
import type { StorePlace } from '../places/place.ts'
import { LOOKING } from '../places/store-access.ts'
import { renderInspect } from '../render/render-inspect.ts'
import { inspectReport } from '../reports/inspect-report.ts'
import { closeQuietly } from './finished.ts'
import type { Finished } from './finished.ts'

/** What `inspect` is asked. */
export interface InspectSettings {
  readonly store: StorePlace
  readonly namespace: string
  /** As meta tells it unless said. */
  readonly topic: string | undefined
  readonly dataKeysCarryNoExpiry: boolean
  /** Newest entries listed of each partition. */
  readonly quarantine: number
  /** For people: the stored fields of every partition, not only of damaged ones. */
  readonly raw: boolean
  readonly deadlineMs: number
  readonly limit: number
}

/**
 * What a store holds under a namespace. Asks no log, writes nothing. Promises: CLI-3.
 *
 * @throws {TidemarkError} TM_CORE_CANCELLED when it is interrupted: half a listing is no verdict.
 */
export async function runInspect(settings: InspectSettings, host: CommandHost): Promise<Finished> {
  const { namespace, topic, dataKeysCarryNoExpiry, limit, raw } = settings
  const place = await openStorePlace(settings.store, LOOKING, settings.deadlineMs)
  try {
    const store = place.store(namespace)
    await place.requireForm?.(namespace)
    const named = topic === undefined ? {} : { topic }
    const inspection = await inspectNamespace({ store, ...named, declarations: { dataKeysCarryNoExpiry } })
    requireWanted(host)
    const quarantine = await readQuarantine(settings, inspection, place.inspector(namespace), host)
    const hint = place.hint?.(inspection.stored)
    const parts = { namespace: store.namespace, storeName: place.name, hint, inspection, quarantine, limit }
    const report = inspectReport(parts)
    return { report, render: (style) => renderInspect(report, style, raw) }
  } finally {
    await closeQuietly(place)
  }
}

/** The newest entries, partition by partition, until the list is as long as it may be. */
async function readQuarantine(
  { quarantine: entriesMax, limit }: InspectSettings,
  inspection: NamespaceInspection,
  inspector: StoreInspector,
  host: CommandHost,
): Promise<ReadonlyMap<number, QuarantineListing>> {
  const listings = new Map<number, QuarantineListing>()
  if (inspection.kind !== 'found' || entriesMax === 0) return listings
  let listed = 0
  for (const partition of [...inspection.stored.quarantined.keys()].sort((a, b) => a - b)) {
    if (listed >= limit) break
    const listing = await inspector.readQuarantine({ topic: inspection.topic, partition, entriesMax })
    listings.set(partition, listing)
    listed += listing.newest.length
    requireWanted(host)
  }
  return listings
}

function requireWanted({ signal }: CommandHost): void {
  if (signal.aborted) throw coreErrors.create('TM_CORE_CANCELLED', { what: 'the inspection' })
}
