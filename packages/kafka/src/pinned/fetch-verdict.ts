import type { ReadFailure } from '@tidemark/log'
import type { SilenceReason } from '../inspection/broker-connections.ts'
import type { PartitionAnswer } from './fetch-answer.ts'

/**
 * What an answer about a partition means.
 *
 * `locate`: ask for the leader, then again. `again`: ask the same leader a little later. `unknown-id`: the broker does
 * not know the topic id; whoever has the topic's name decides. None of them moves a position.
 */
export type FetchVerdict =
  | { readonly kind: 'good' }
  | { readonly kind: 'locate' | 'again' | 'unknown-id'; readonly message: string }
  | { readonly kind: 'failed'; readonly reason: ReadFailure['reason']; readonly message: string }

/** Error codes of a fetch that another leader, or the same one a moment later, may answer without. */
const locateCodes: ReadonlyMap<number, string> = new Map([
  [3, 'UNKNOWN_TOPIC_OR_PARTITION'],
  [5, 'LEADER_NOT_AVAILABLE'],
  [6, 'NOT_LEADER_OR_FOLLOWER'],
  [8, 'BROKER_NOT_AVAILABLE'],
  [9, 'REPLICA_NOT_AVAILABLE'],
  [56, 'KAFKA_STORAGE_ERROR'],
  [74, 'FENCED_LEADER_EPOCH'],
  [75, 'UNKNOWN_LEADER_EPOCH'],
])
const againCodes: ReadonlyMap<number, string> = new Map([
  [-1, 'UNKNOWN_SERVER_ERROR'],
  [7, 'REQUEST_TIMED_OUT'],
  [78, 'OFFSET_NOT_AVAILABLE'],
])
const unknownIdCodes: ReadonlyMap<number, string> = new Map([
  [100, 'UNKNOWN_TOPIC_ID'],
  [103, 'INCONSISTENT_TOPIC_ID'],
])
const OUT_OF_RANGE = 1
const CORRUPT_MESSAGE = 2
const authorizationCodes: ReadonlySet<number> = new Set([29, 31])

/** What an error code says, of a partition or of a whole answer. */
export function verdictOfCode(errorCode: number, where: string): FetchVerdict {
  if (errorCode === 0) return { kind: 'good' }
  const locate = locateCodes.get(errorCode)
  if (locate !== undefined) return { kind: 'locate', message: `${where}: ${locate}` }
  const again = againCodes.get(errorCode)
  if (again !== undefined) return { kind: 'again', message: `${where}: ${again}` }
  const unknownId = unknownIdCodes.get(errorCode)
  if (unknownId !== undefined) return { kind: 'unknown-id', message: `${where}: ${unknownId}` }
  if (errorCode === OUT_OF_RANGE) return failed('out-of-range', `${where}: OFFSET_OUT_OF_RANGE`)
  if (authorizationCodes.has(errorCode)) return failed('authorization', `${where}: no permission (code ${errorCode})`)
  if (errorCode === CORRUPT_MESSAGE)
    return failed('other', `${where}: the broker's own log is damaged (CORRUPT_MESSAGE)`)
  return failed('other', `${where}: error code ${errorCode}`)
}

/** What an answer about a partition says, before its records are read. Promises: KAF-20, KAF-24, KAF-25. */
export function verdictOfAnswer(answer: PartitionAnswer, fetchOffset: bigint, where: string): FetchVerdict {
  const byCode = verdictOfCode(answer.errorCode, `${where} from ${fetchOffset}`)
  if (byCode.kind !== 'good' || answer.diverging === undefined) return byCode
  const { epoch, endOffset } = answer.diverging
  return failed(
    'out-of-range',
    `${where} was truncated: what was read up to ${fetchOffset} is not in the leader's log, whose epoch ${epoch} ends at ${endOffset}`,
  )
}

/** What no answer at all means. */
export function verdictOfSilence(reason: SilenceReason, message: string): FetchVerdict {
  switch (reason) {
    case 'authorization':
      return failed('authorization', message)
    case 'unsupported':
      return failed('other', message)
    default:
      return { kind: 'locate', message }
  }
}

function failed(reason: ReadFailure['reason'], message: string): FetchVerdict {
  return { kind: 'failed', reason, message }
}
