import { canonicalJson, decodeOffset, encodeOffset, hashKey } from '@tidemark/core'
import type { KeyPart, Offset } from '@tidemark/core'
import type { ReadBack } from './committed-log.ts'
import type { PartitionBounds } from './log-bounds.ts'
import type { LogRecord } from './log-record.ts'

/**
 * What the last applied record looked like, so that a start can prove the log still holds it.
 *
 * It catches what ids and ranges cannot: truncation by an unclean election, a restored cluster, a mirror that diverged.
 */
export interface TailWitness {
  readonly offset: Offset
  /** Informative: the digest decides. */
  readonly leaderEpoch: number
  /** SHA-256 over offset, timestamp, key, value and headers. */
  readonly digest: string
}

/** The witness of a record. Cost: one hash; taken once per batch, of its last record. */
export function witnessOf(record: LogRecord): TailWitness {
  const parts: KeyPart[] = [encodeOffset(record.offset), String(record.timestampMs), record.key, record.value]
  for (const header of record.headers) parts.push(header.name, header.value)
  return { offset: record.offset, leaderEpoch: record.leaderEpoch, digest: hashKey('tail-witness', 1, parts) }
}

/** The stored text of a witness. */
export function encodeWitness(witness: TailWitness): string {
  return canonicalJson({
    digest: witness.digest,
    epoch: witness.leaderEpoch,
    offset: encodeOffset(witness.offset),
    v: 1,
  })
}

/** The witness a stored text stands for, or `undefined` when it is not exactly one. */
export function decodeWitness(text: string): TailWitness | undefined {
  const match = /^\{"digest":"([0-9a-f]{64})","epoch":(-1|0|[1-9][0-9]{0,9}),"offset":"([0-9]+)","v":1\}$/.exec(text)
  const offset = match === null ? undefined : decodeOffset(match[3]!)
  if (match === null || offset === undefined) return undefined
  return { offset, leaderEpoch: Number(match[2]), digest: match[1]! }
}

/** What the log says about a witness. */
export type WitnessVerdict =
  | { readonly kind: 'confirmed' }
  /** Retention or compaction may have removed the record; nothing is proven and nothing is wrong. */
  | { readonly kind: 'not-retained' }
  | { readonly kind: 'diverged'; readonly explanation: string }
  | { readonly kind: 'unproven'; readonly message: string }

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
      return { kind: 'unproven', message: readBack.message }
    case 'absent':
      if (compacted) return { kind: 'not-retained' }
      return { kind: 'diverged', explanation: `no committed record stands at offset ${witness.offset} any more` }
    case 'record':
      if (witnessOf(readBack.record).digest === witness.digest) return { kind: 'confirmed' }
      return {
        kind: 'diverged',
        explanation: `another record stands at offset ${witness.offset} (leader epoch ${readBack.record.leaderEpoch}, applied was epoch ${witness.leaderEpoch})`,
      }
  }
}
