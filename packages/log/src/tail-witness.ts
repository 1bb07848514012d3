import { canonicalJson, decodeOffset, encodeOffset, hashKey } from '@tidemark/core'
import type { KeyPart, Offset } from '@tidemark/core'
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

const stored = /^\{"digest":"[0-9a-f]{64}","epoch":(?:-1|0|[1-9][0-9]{0,9}),"offset":"[0-9]+","v":1\}$/
const digestAt = '{"digest":"'.length
const epochAt = digestAt + 64 + '","epoch":'.length

/** The witness a stored text stands for, or `undefined` when it is not exactly one. */
export function decodeWitness(text: string): TailWitness | undefined {
  // The form is fixed, so its parts are where they are: groups of the pattern would cost more than all the rest.
  if (!stored.test(text)) return undefined
  const epochEnd = text.indexOf(',', epochAt)
  const offset = decodeOffset(text.slice(epochEnd + ',"offset":"'.length, -'","v":1}'.length))
  if (offset === undefined) return undefined
  return {
    offset,
    leaderEpoch: Number(text.slice(epochAt, epochEnd)),
    digest: text.slice(digestAt, digestAt + 64),
  }
}
