import type { Refusal, RefusalCode } from '../refusal.ts'

/** That the stored positions were read from another log than the one found; the earlier one explains the later ones. */
const otherLog: readonly RefusalCode[] = ['CLUSTER_ID', 'TOPIC_NAME', 'TOPIC_ID']

/** What is found by laying stored positions beside a log; beside another log it is no finding of its own. */
const besideTheLog: ReadonlySet<RefusalCode> = new Set([
  ...otherLog,
  'PARTITION_COUNT',
  'EXTRA_CHECKPOINT',
  'MISSING_CHECKPOINT',
  'LOW_NOT_ZERO',
  'NEXT_BELOW_LOW',
  'NEXT_ABOVE_HIGH',
  'DATA_TWIN',
])

/**
 * The same reasons, with one advice among those that come of another log: its identity is settled first.
 *
 * On a recreated topic every old position is out of range; advice to look for lost records would contradict the reason.
 */
export function identityFirst(refusals: readonly Refusal[]): readonly Refusal[] {
  const head = otherLog.find((code) => refusals.some((refusal) => refusal.code === code))
  if (head === undefined) return refusals
  const remedy = `Settle ${head} first: the stored positions are of another log, and until then nothing else follows from them.`
  return refusals.map((refusal) =>
    refusal.code === head || !besideTheLog.has(refusal.code) ? refusal : { ...refusal, remedy },
  )
}
