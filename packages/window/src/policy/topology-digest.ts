import { canonicalJson, hashKey } from '@tidemark/core'
import type { PolicySource } from './stream-time-policy.ts'

/** Sources by name and partitions by number: the order in which they are listed says nothing. */
export function orderedSources(sources: readonly PolicySource[]): readonly PolicySource[] {
  return sources
    .map(({ source, partitions }) => ({ source, partitions: partitions.toSorted((left, right) => left - right) }))
    .toSorted((left, right) => (left.source < right.source ? -1 : 1))
}

/**
 * The digest of the partitions that a frontier is the minimum of; another one is another generation.
 *
 * Promises: WIN-9. Cost: one hash; ask once a start.
 */
export function topologyDigest(sources: readonly PolicySource[]): string {
  return hashKey('window-topology', 1, [canonicalJson(orderedSources(sources))])
}
