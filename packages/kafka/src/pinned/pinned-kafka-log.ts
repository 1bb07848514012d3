import type { CommittedLog, LogReader, ReadBack, ReadBackRequest, ReaderRequest } from '@tidemark/log'
import { loadInspectorClient } from '../client-packages.ts'
import { checkConnection } from '../connection-options.ts'
import { kafkaErrors } from '../errors.ts'
import { newBrokerConnections } from '../inspection/broker-connections.ts'
import { createKafkaInspector } from '../inspection/kafka-inspector.ts'
import { bytesOfReadBack, readBackRecords } from '../reading/read-back.ts'
import type { ServedReader } from '../reading/served-reader.ts'
import { newDecompress } from './batch-compression.ts'
import type { FetchingParts } from './leader-fetching.ts'
import { openTopic } from './pinned-opening.ts'
import { checkFetchOptions } from './pinned-options.ts'
import type { PinnedKafkaLogOptions } from './pinned-options.ts'
import { newPinnedReader } from './pinned-reader.ts'
import { newTopicLeaders } from './topic-leaders.ts'

/**
 * A committed log on Kafka whose fetches name the topic by the id we hold: what a broker answers is proven to come from
 * that topic and no other, and a recreated topic is an error instead of other records.
 *
 * Connects when first used. No group, no commits, no reset: explicit offsets of explicit partitions, read committed.
 * Promises: KAF-20 to KAF-29.
 *
 * @throws {TidemarkError} TM_KAFKA_OPTION_INVALID, TM_CORE_LIMIT_INVALID, TM_KAFKA_CLIENT_MISSING
 */
export function createPinnedKafkaLog(options: PinnedKafkaLogOptions): CommittedLog {
  const connection = checkConnection(options)
  const limits = checkFetchOptions(options.fetch ?? {})
  const inspector = createKafkaInspector(options)
  const questions = newBrokerConnections(connection)
  const leaders = newTopicLeaders(questions, connection.brokers)
  const readers = new Set<LogReader>()
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  const open = async (request: ReaderRequest, fetchLimits: FetchingParts['limits']): Promise<ServedReader> => {
    const refuseClosed = (): void => {
      if (closing !== undefined) throw kafkaErrors.create('TM_KAFKA_CLOSED', { operation: 'openReader' })
    }
    refuseClosed()
    const client = await loadInspectorClient()
    const topicId = await openTopic(connection, leaders, request)
    refuseClosed()
    const reader = newPinnedReader({
      topic: request.topic,
      topicId,
      positions: request.positions,
      connections: newBrokerConnections(connection),
      leaders,
      codecs: { decompress: newDecompress(client), crc32c: client.crc32c },
      limits: fetchLimits,
      onClosed: () => readers.delete(reader),
    })
    readers.add(reader)
    return reader
  }

  /** Counts work under way, so that a close waits for what it would otherwise leave behind. */
  const counted = <T>(work: Promise<T>): Promise<T> => {
    const settled = work.then(
      () => undefined,
      () => undefined,
    )
    underWay.add(settled)
    void settled.then(() => underWay.delete(settled))
    return work
  }

  return {
    inspector,
    openReader: (request) => counted(open(request, limits)),
    readBack: (request: ReadBackRequest): Promise<readonly ReadBack[]> => {
      if (closing !== undefined) {
        return Promise.reject(kafkaErrors.create('TM_KAFKA_CLOSED', { operation: 'readBack' }))
      }
      const enough = {
        ...limits,
        partitionBytesMax: Math.min(limits.partitionBytesMax, bytesOfReadBack(request.records)),
      }
      return counted(readBackRecords(request, (round) => open({ ...request, ...round }, enough)))
    },
    close: () =>
      (closing ??= (async () => {
        // Ends questions under way, so that an opening does not hold the close up for the rest of its deadline.
        await questions.close()
        while (underWay.size > 0) await Promise.all(underWay)
        await Promise.all([...readers].map((reader) => reader.close()))
        await inspector.close()
      })()),
  }
}
