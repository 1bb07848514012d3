import type { TopicId } from '@tidemark/core'

/** Fetch versions that name topics by id, and that this encoding covers. Source: KIP-516, KIP-903, KIP-951. */
export const FETCH_VERSIONS = [13, 14, 15, 16, 17] as const
export type FetchVersion = (typeof FETCH_VERSIONS)[number]

/** Kafka's number of the Fetch request. */
export const FETCH_KEY = 1

/** One partition of a fetch. */
export interface FetchedPartition {
  readonly partition: number
  /** The epoch of the leader as last known: a deposed leader, or one that does not know it yet, refuses. */
  readonly leaderEpoch: number
  readonly fetchOffset: bigint
  /** The epoch of the last batch read, or -1: lets the leader say that its log diverges from what was read. */
  readonly lastFetchedEpoch: number
  readonly bytesMax: number
}

/** A fetch of partitions of one topic from one leader. */
export interface FetchRequest {
  readonly topicId: TopicId
  readonly maxWaitMs: number
  readonly minBytes: number
  readonly bytesMax: number
  readonly partitions: readonly FetchedPartition[]
}

/** Broker versions since 15 take the replica id as a tagged field, which a consumer leaves out. */
const REPLICA_ID_UNTIL = 14
const READ_COMMITTED = 1
const PARTITION_BYTES = 4 + 4 + 8 + 4 + 8 + 4 + 1

/**
 * The body of a read-committed fetch without a session: session id 0 and epoch -1 ask for everything named, each time.
 *
 * Without a session each answer speaks of each partition asked for, the broker keeps no state that can be lost or
 * mistaken, and a paused partition is simply left out. The price is the list of partitions in every request.
 */
export function encodeFetchRequest(version: FetchVersion, request: FetchRequest): Buffer {
  const { topicId, partitions } = request
  const body = Buffer.allocUnsafe(64 + partitions.length * PARTITION_BYTES)
  let at = 0
  const int32 = (value: number): void => void (at = body.writeInt32BE(value, at))
  const varint = (value: number): void => {
    for (; value >= 0x80; value = Math.floor(value / 128)) at = body.writeUInt8((value % 128) | 0x80, at)
    at = body.writeUInt8(value, at)
  }
  if (version <= REPLICA_ID_UNTIL) int32(-1)
  int32(request.maxWaitMs)
  int32(request.minBytes)
  int32(request.bytesMax)
  at = body.writeInt8(READ_COMMITTED, at)
  int32(0)
  int32(-1)
  varint(2)
  at += body.write(topicId.replaceAll('-', ''), at, 'hex')
  varint(partitions.length + 1)
  for (const { partition, leaderEpoch, fetchOffset, lastFetchedEpoch, bytesMax } of partitions) {
    int32(partition)
    int32(leaderEpoch)
    at = body.writeBigInt64BE(fetchOffset, at)
    int32(lastFetchedEpoch)
    at = body.writeBigInt64BE(-1n, at)
    int32(bytesMax)
    varint(0)
  }
  // Tags of the topic; no forgotten topics; no rack, so that no follower is named instead of the leader; no tags.
  varint(0)
  varint(1)
  varint(1)
  varint(0)
  return body.subarray(0, at)
}
