import { canonicalJson, hashKey } from '@tidemark/core'
import { readZoneTransitions, zoneTransitionsText } from '../civil/zone-transitions.ts'
import { windowErrors } from '../errors.ts'
import type { StreamTimePolicy } from './stream-time-policy.ts'
import { orderedSources, topologyDigest } from './topology-digest.ts'

/** A policy and the digests it is known by; plain JSON, as registries and snapshots hold it. */
export interface FrozenPolicy {
  readonly policy: StreamTimePolicy
  /** Over the whole policy and the transitions of a civil window's zone. */
  readonly digest: string
  /** Over the sources and their partitions alone. */
  readonly topologyDigest: string
  /** Over the transitions of a civil window's zone in the data it was frozen under; `null` for every other window. */
  readonly zoneDigest: string | null
}

/** The canonical text of a zone's transitions in some zone data. */
export type TransitionsText = (zone: string) => string

const pinnedTransitions: TransitionsText = (zone) => zoneTransitionsText(readZoneTransitions(zone))

/**
 * A policy with its digests.
 *
 * The transitions come from the pinned zone data; other data are passed only to compare with them. What no window uses is in no
 * digest, so an upgrade of the zone data stops the policies whose clocks it changes and no others.
 *
 * Promises: WIN-9, WIN-10. Cost: a few hashes and a search in the zone data; ask once a start.
 *
 * @throws {TidemarkError} TM_WINDOW_ZONE_UNKNOWN for a civil window.
 */
export function freezePolicy(policy: StreamTimePolicy, transitions: TransitionsText = pinnedTransitions): FrozenPolicy {
  const { window, sources } = policy
  const zoneDigest = window.kind === 'civil' ? hashKey('window-zone', 1, [transitions(window.zone)]) : null
  return { policy, digest: digestOf(policy, zoneDigest), topologyDigest: topologyDigest(sources), zoneDigest }
}

/**
 * The digest that every snapshot and revision carries.
 *
 * Promises: WIN-9, WIN-10. Cost: as {@link freezePolicy}.
 */
export function policyDigest(policy: StreamTimePolicy, transitions: TransitionsText = pinnedTransitions): string {
  return freezePolicy(policy, transitions).digest
}

function digestOf(policy: StreamTimePolicy, zoneDigest: string | null): string {
  const ordered = { ...policy, sources: orderedSources(policy.sources) }
  return hashKey('stream-time-policy', 1, [canonicalJson(ordered), zoneDigest])
}

/**
 * Lets a frozen policy through whose digests are those of its policy.
 *
 * @throws {TidemarkError} TM_WINDOW_POLICY_DAMAGED
 */
export function checkFrozenPolicy(frozen: FrozenPolicy, where: string): void {
  const { policy, zoneDigest } = frozen
  const civil = policy.window.kind === 'civil'
  const wrong = [
    ...(frozen.digest === digestOf(policy, zoneDigest) ? [] : ['digest']),
    ...(frozen.topologyDigest === topologyDigest(policy.sources) ? [] : ['topologyDigest']),
    ...((zoneDigest !== null) === civil ? [] : ['zoneDigest']),
  ]
  if (wrong.length === 0) return
  const { businessStream, generation } = policy
  throw windowErrors.create('TM_WINDOW_POLICY_DAMAGED', { where, businessStream, generation, fields: wrong })
}
