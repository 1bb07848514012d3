import { isTidemarkError, messageOf } from '@tidemark/core'
import type { JsonValue } from '@tidemark/core'
import { onOneLine } from '../refusal.ts'

/** Why a running projection stopped serving: one row per reason an operator can act on. Codes are stable. */
export const dirtyCatalogue = {
  START_FAILED: 'The start could not ask the log or the store. Repair what the message names and start again.',
  IDENTITY_MISMATCH: 'The topic was recreated, grown or moved under the projection. Rebuild into a new namespace.',
  IDENTITY_UNPROVEN: 'Brokers gave no usable answer for too long. Restart when every listed broker answers.',
  BOUNDS_UNREADABLE:
    'Partition leaders gave no offsets for too long. Restart when every partition has a leader that answers.',
  OUT_OF_RANGE: 'The log no longer holds the position (retention, truncation). Restart: the planner says which.',
  READ_FAILED: 'The consumer failed. Restart when the cause named is gone; reading resumes at the checkpoint.',
  OFFSETS_BACKWARDS:
    'The log delivered a record below the expected one. Restart: the planner checks identity and witness.',
  NEXT_BELOW_LOW: 'Retention passed the read position: records are lost. Restore them, or rebuild.',
  NEXT_ABOVE_HIGH: 'The log ends before the position: it was truncated. Restart: the planner says what is missing.',
  LOG_DIVERGED:
    'A new leader holds other records than those applied (unclean election, restored copy). Rebuild into a new namespace.',
  PARTITION_STALLED: 'A partition made no progress although records are waiting. Restart; look at its leader.',
  STORE_FAILED: 'A write was not confirmed. Restart when the store is well; the unfinished step is replayed.',
  STORE_CHANGED: 'The stored state is not what this projection wrote. Restart: the planner says what is wrong.',
  FENCED: 'Another projection claimed the partition. Stop one of the two.',
  CONFLICT: 'The checkpoint was changed by somebody else. Find out by whom before restarting.',
  UNDECODABLE: 'A record cannot be projected. Fix the producer or the projection, or choose quarantine.',
  PROJECT_FAILED: 'The projection function threw. Fix it and restart; nothing was skipped.',
  INTERNAL: 'A fault in tidemark or in a port implementation. Report it with the message; a restart is safe.',
} as const

/** A stable reason code of a dirty projection. */
export type DirtyCode = keyof typeof dirtyCatalogue

/** Why a projection went dirty. The first reason is kept; what follows from it is not. */
export interface DirtyReason {
  readonly code: DirtyCode
  readonly message: string
  readonly partition?: number
  readonly values: Readonly<Record<string, JsonValue>>
  readonly remedy: string
  readonly docsPath: string
}

/** The longest message kept; what a host or a broker says may quote a whole payload. */
const DIRTY_MESSAGE_LENGTH_MAX = 2_000

/** A dirty reason with the catalogue's remedy and docs path. */
export function dirtyReason(
  code: DirtyCode,
  message: string,
  values: Readonly<Record<string, JsonValue>> = {},
  partition?: number,
): DirtyReason {
  const where = partition === undefined ? {} : { partition }
  return {
    code,
    message: onOneLine(message.slice(0, DIRTY_MESSAGE_LENGTH_MAX)),
    ...where,
    values,
    remedy: dirtyCatalogue[code],
    docsPath: `docs/errors/dirty.md#${code.toLowerCase()}`,
  }
}

/** The runbook page of a dirty reason, as of a refusal. */
export function dirtyRunbook(code: DirtyCode): string {
  return `docs/runbook/dirty/${code.toLowerCase().replaceAll('_', '-')}.md`
}

/** A dirty reason made of something thrown; a tidemark error's code and details are kept. */
export function dirtyReasonOfThrown(code: DirtyCode, doing: string, thrown: unknown, partition?: number): DirtyReason {
  const values = isTidemarkError(thrown) ? { error: thrown.code, details: thrown.details } : {}
  return dirtyReason(code, `${doing}: ${messageOf(thrown)}`, values, partition)
}
