import type { ReadBack } from './committed-log.ts'
import type { PartitionBounds } from './log-bounds.ts'
import type { TailWitness } from './tail-witness.ts'

/** What the log says about a witness. */
export type WitnessVerdict =
  | { readonly kind: 'confirmed' }
  /** Retention or compaction may have removed the record; nothing is proven and nothing is wrong. */
  | { readonly kind: 'not-retained' }
  | { readonly kind: 'diverged'; readonly explanation: string }
  | { readonly kind: 'unproven'; readonly message: string; readonly reason?: 'damaged' }

const confirmed: WitnessVerdict = { kind: 'confirmed' }

/**
 * Whether the log still holds the witnessed record.
 *
 * A compacted topic may have dropped it, so absence there proves nothing. Elsewhere a record at or above `low` cannot
 * vanish: absence is divergence. Promises: LOG-9.
 */
export function judgeWitness(
  witness: TailWitness,
  bounds: PartitionBounds,
  compacted: boolean,
  readBack: ReadBack | undefined,
): WitnessVerdict {
  if (witness.offset < bounds.low) return { kind: 'not-retained' }
  if (witness.offset >= bounds.highWatermark) {
    return {
      kind: 'diverged',
      explanation: `the log ends at ${bounds.highWatermark}, before the applied record ${witness.offset}`,
    }
  }
  if (readBack?.offset !== witness.offset)
    return { kind: 'unproven', message: `record ${witness.offset} was not read back` }
  switch (readBack.kind) {
    case 'unreadable':
      return unprovenBy(readBack)
    case 'absent':
      if (compacted) return { kind: 'not-retained' }
      return { kind: 'diverged', explanation: `no committed record stands at offset ${witness.offset} any more` }
    case 'record':
      if (readBack.witness.digest === witness.digest) return confirmed
      return {
        kind: 'diverged',
        explanation: `another record stands at offset ${witness.offset} (leader epoch ${readBack.witness.leaderEpoch}, applied was epoch ${witness.leaderEpoch})`,
      }
  }
}

/** What an answer that was none leaves unproven, and whether it can ever be answered. */
export function unprovenBy({
  message,
  reason,
}: Pick<Extract<ReadBack, { kind: 'unreadable' }>, 'message' | 'reason'>): Extract<
  WitnessVerdict,
  { kind: 'unproven' }
> {
  return { kind: 'unproven', message, ...(reason === undefined ? {} : { reason }) }
}
