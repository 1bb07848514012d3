import { canonicalJson, encodeOffset, sha256Hex } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import type { LogRecord } from '@tidemark/log'

/** A record that was set aside instead of projected: where it stands and why, enough to find and repair it. */
export interface QuarantineEntry {
  readonly partition: number
  readonly offset: Offset
  readonly reason: string
  /** SHA-256 of the value, so that a repair can be matched; absent when the value is null. */
  readonly valueDigest: string | null
  readonly valueBytes: number
  readonly timestampMs: number
}

/** The longest reason kept; a host's message may quote a whole payload. */
export const QUARANTINE_REASON_LENGTH_MAX = 500

/** The entry of a record. The value itself stays in the log: copying it could leak it into another retention regime. */
export function quarantineEntryOf(record: LogRecord, reason: string): QuarantineEntry {
  return {
    partition: record.partition,
    offset: record.offset,
    reason: shorten(reason),
    valueDigest: record.value === null ? null : sha256Hex([record.value]),
    valueBytes: record.value?.byteLength ?? 0,
    timestampMs: record.timestampMs,
  }
}

/** The stored text of an entry. */
export function encodeQuarantineEntry(entry: QuarantineEntry): string {
  const { partition, reason, valueDigest, valueBytes, timestampMs } = entry
  return canonicalJson({
    offset: encodeOffset(entry.offset),
    partition,
    reason,
    // A record is not trusted to have a sane timestamp; one that no number holds exactly must still be set aside.
    timestampMs: Number.isSafeInteger(timestampMs) ? timestampMs : String(timestampMs),
    valueBytes,
    valueDigest,
    v: 1,
  })
}

function shorten(reason: string): string {
  // Cutting can split a surrogate pair, and a host's text may hold a lone one; neither has a canonical form.
  const cut = reason.slice(0, QUARANTINE_REASON_LENGTH_MAX)
  return cut.replaceAll(/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/g, '\uFFFD')
}
