import { decodeCheckpoint } from '@tidemark/checkpoint'
import type { ProjectedDataReader, StoredState } from '@tidemark/checkpoint'
import type { Offset } from '@tidemark/core'
import { scoresOf } from '../service/session-reader.ts'
import { sessionKey } from '../session-key.ts'
import type { LoggedDispatch } from './logged-sessions.ts'

/** What a crash left in one partition. Units: records. */
export interface ReplayWindow {
  readonly partition: number
  readonly nextOffset: Offset
  /** Records at or above the checkpoint that are already in the data, wholly or in part: these are applied again. */
  readonly replayed: number
  /** Records below the checkpoint that are not in the data. Must be zero: nothing would ever apply them. */
  readonly lost: number
}

/** The stored positions, by partition. */
export function storedPositions(stored: StoredState): ReadonlyMap<number, Offset> {
  const positions = new Map<number, Offset>()
  for (const [partition, fields] of stored.checkpoints) {
    const decoded = decodeCheckpoint(fields)
    if (decoded.kind === 'faulty') throw new Error(`the checkpoint of partition ${partition} is damaged`)
    positions.set(partition, decoded.value.nextOffset)
  }
  return positions
}

/**
 * Compares positions with data, partition by partition.
 *
 * Needs dispatches whose `createdAt` is theirs alone and whose conversations stay in one partition: then a stored time
 * names the record that put it there, and everything before that record in its partition was applied as well.
 */
export async function replayWindows(
  dispatches: readonly LoggedDispatch[],
  positions: ReadonlyMap<number, Offset>,
  data: ProjectedDataReader,
): Promise<readonly ReplayWindow[]> {
  const users = [...new Set(dispatches.flatMap(({ dispatch }) => dispatch.recipients))]
  const values = await data.readValues(users.map(sessionKey))
  const scores = new Map(users.map((user, index) => [user, scoresOf(values[index])]))
  const partitions = [...new Set(dispatches.map(({ partition }) => partition))].sort((a, b) => a - b)
  return partitions.map((partition) => {
    // Without a checkpoint nothing is claimed to be applied.
    const nextOffset = positions.get(partition) ?? (0n as Offset)
    const own = dispatches.filter((one) => one.partition === partition)
    const beyond = own.filter((one) => one.offset >= nextOffset)
    const lastApplied = beyond.findLastIndex(({ dispatch }) =>
      dispatch.recipients.some((user) => scores.get(user)?.get(dispatch.conversationId) === dispatch.createdAt),
    )
    const lost = own.filter(
      ({ offset, dispatch }) =>
        offset < nextOffset &&
        !dispatch.recipients.every((user) => {
          return (scores.get(user)?.get(dispatch.conversationId) ?? -1) >= dispatch.createdAt
        }),
    )
    return { partition, nextOffset, replayed: lastApplied + 1, lost: lost.length }
  })
}
