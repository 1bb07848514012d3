import type { JsonValue } from '@tidemark/core'

/** Why a start is refused: one row per reason an operator can act on. Codes are stable. */
export const refusalCatalogue = {
  STORE_LOADING: 'Wait until the store has loaded its data, then start again.',
  STORE_REPLICA: 'Connect to the primary; a replica may be behind and refuses writes.',
  STORE_DATABASE: 'Check the database number in the address: the connection is on another one than asked for.',
  EVICTION_POLICY:
    'Set the policy to noeviction, or declare that data keys carry no expiry where only expiring keys go.',
  KEY_EXPIRES: 'Remove the expiry (PERSIST) and find out what sets it: a vanished checkpoint looks like a first start.',
  IDENTITY_UNPROVEN: 'Make every listed broker answer with the same cluster id and topic id, then start again.',
  IDENTITY_CHANGED: 'The topic changed while starting. Start again; if it was recreated, rebuild into a new namespace.',
  CLUSTER_ID: 'The stored positions belong to another cluster. Point back to it, or rebuild into a new namespace.',
  TOPIC_NAME: 'The namespace belongs to another topic. Use that topic, or a namespace of its own for this one.',
  TOPIC_ID: 'The topic was deleted and recreated since. Rebuild into a new namespace.',
  PARTITION_COUNT: 'The number of partitions changed, so keys moved between them. Rebuild into a new namespace.',
  FORMAT_VERSION:
    'The state was written in another format. Run the version that wrote it, or rebuild into a new namespace.',
  FIELD_MISSING:
    'The stored state is damaged. Restore it from a backup together with its data, or rebuild into a new namespace.',
  FIELD_UNKNOWN: 'The stored state has a field this version does not know. Find out who wrote it; do not delete it.',
  UNPARSEABLE:
    'The stored state is damaged. Restore it from a backup together with its data, or rebuild into a new namespace.',
  PARTITION_FIELD: 'A checkpoint was copied to another key. Restore from a backup, or rebuild into a new namespace.',
  CHECKPOINT_UNLIKE_META:
    'Checkpoints of different origins are mixed. Restore from a backup, or rebuild into a new namespace.',
  CHECKPOINTS_WITHOUT_META: 'The identity record is gone. Restore it from a backup, or rebuild into a new namespace.',
  EXTRA_CHECKPOINT:
    'A checkpoint stands outside the partitions of the topic. Find out who wrote it; rebuild into a new namespace.',
  MISSING_CHECKPOINT:
    'A checkpoint is gone and its history cannot be replayed safely. Restore it, or rebuild into a new namespace.',
  LOW_NOT_ZERO: 'Without a checkpoint only a complete history may be projected. Restore the checkpoint or the history.',
  NEXT_BELOW_LOW:
    'Retention removed records that were never projected. Restore them, or rebuild where history is complete.',
  NEXT_ABOVE_HIGH:
    'The log ends before the checkpoint: records were lost or this is an older copy. Find out before you rebuild.',
  BOUNDS_UNREADABLE: 'Make every partition leader answer the offset requests; check reachability and permissions.',
  SETTINGS_UNREADABLE:
    'Allow DescribeConfigs on the topic: retention and cleanup policy decide whether resuming is safe.',
  COMPACTED_TOPIC:
    'Compaction removes history. Declare latestRecordPerKeySuffices only if that is true of the projection.',
  LOG_DIVERGED:
    'The log holds other records than those applied (unclean election, restored copy, mirror). Rebuild into a new namespace.',
  WITNESS_UNPROVEN:
    'The last applied record, or what was passed behind it, could not be read back in time. Make it readable, then start again; raise inspectMsMax for a broker that keeps silent for longer, readBackMsMax for one that is read through slowly.',
  DATA_NOT_EMPTY: 'Data stands where a first start needs none. Empty it, or use a new namespace and data prefix.',
  DATA_TWIN:
    'The data carries no position from which its checkpoint can be reached. Restore the data, or rebuild into a new namespace.',
  STATE_CHANGED: 'Another process changed the stored state while starting. Find it, stop it, start again.',
  FENCED: 'Another process claimed a partition while starting. Run one projection per namespace.',
} as const

/** A stable reason code of a refused start. */
export type RefusalCode = keyof typeof refusalCatalogue

/** One reason why a start is refused. */
export interface Refusal {
  readonly code: RefusalCode
  /** The partition concerned, where it is one. */
  readonly partition?: number
  /** One line with the values. */
  readonly message: string
  readonly values: Readonly<Record<string, JsonValue>>
  readonly remedy: string
  readonly docsPath: string
}

/** A refusal with the catalogue's remedy and docs path. */
export function refuse(
  code: RefusalCode,
  message: string,
  values: Readonly<Record<string, JsonValue>> = {},
  partition?: number,
): Refusal {
  const docsPath = `docs/errors/refusals.md#${code.toLowerCase()}`
  const where = partition === undefined ? {} : { partition }
  return { code, ...where, message: onOneLine(message), values, remedy: refusalCatalogue[code], docsPath }
}

/** Damaged stored text is quoted in messages; a line break in it must not look like a line of ours in a log. */
export function onOneLine(message: string): string {
  return message.replaceAll(/[\u0000-\u001f\u007f\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}

/** The runbook page of a refusal: what to look at, what is safe, what never is; it begins with the link to cause and remedy. */
export function refusalRunbook(code: RefusalCode): string {
  return `docs/runbook/refusals/${code.toLowerCase().replaceAll('_', '-')}.md`
}

/** All reasons as text for an operator: a line per reason, its remedy and its runbook page beneath. */
export function renderRefusals(refusals: readonly Refusal[]): string {
  const lines = refusals.flatMap((refusal) => {
    const where = refusal.partition === undefined ? '' : ` [partition ${refusal.partition}]`
    const { code, message, remedy } = refusal
    return [`${code}${where}: ${message}`, `  remedy: ${remedy}`, `  see: ${refusalRunbook(code)}`]
  })
  return [`start refused for ${refusals.length} reason${refusals.length === 1 ? '' : 's'}`, ...lines].join('\n')
}
