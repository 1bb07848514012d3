import type { CommittedLog, LogReader, ReadBack, ReadBackRequest, ReaderRequest } from '@tidemark/log'
import { loadConfluentClient } from './client-packages.ts'
import { checkConnection } from './connection-options.ts'
import type { KafkaConnectionOptions } from './connection-options.ts'
import { kafkaErrors } from './errors.ts'
import { createKafkaInspector } from './inspection/kafka-inspector.ts'
import { newKafkaReader } from './reading/kafka-reader.ts'
import { readBackRecords, readBackTuning } from './reading/read-back.ts'
import { openAssignedConsumer } from './reading/reader-opening.ts'
import { checkClientTuning } from './reading/safe-consumer-options.ts'
import type { ClientTuning } from './reading/safe-consumer-options.ts'
import type { ServedReader } from './reading/served-reader.ts'

/** Which cluster to read, as whom, and how much to fetch. */
export interface KafkaLogOptions extends KafkaConnectionOptions {
  /** Options of the fetching client, by its own names; only those of `TUNABLE_CLIENT_OPTIONS` are accepted. */
  readonly clientTuning?: ClientTuning
}

/**
 * A committed log on Kafka: the official client fetches, and an independent inspector proves what was fetched from.
 *
 * Connects when first used. Readers are assigned explicit offsets, never join a group, never commit and never reset.
 * Promises: KAF-1 to KAF-13.
 *
 * @throws {TidemarkError} TM_KAFKA_OPTION_INVALID, TM_KAFKA_UNSAFE_OPTION, TM_KAFKA_CLIENT_MISSING
 */
export function createKafkaLog(options: KafkaLogOptions): CommittedLog {
  const connection = checkConnection(options)
  const hostTuning = checkClientTuning(options.clientTuning ?? {})
  loadConfluentClient()
  const inspector = createKafkaInspector(options)
  const readers = new Set<LogReader>()
  const underWay = new Set<Promise<unknown>>()
  let closing: Promise<void> | undefined

  const open = async (request: ReaderRequest, extraTuning: ClientTuning): Promise<ServedReader> => {
    if (closing !== undefined) throw kafkaErrors.create('TM_KAFKA_CLOSED', { operation: 'openReader' })
    const consumer = await openAssignedConsumer(connection, { ...extraTuning, ...hostTuning }, request, counted)
    const reader = newKafkaReader(consumer, request.topic, request.positions, () => readers.delete(reader))
    readers.add(reader)
    return reader
  }

  /** Counts work under way, so that a close waits for what it would otherwise leave behind. */
  function counted<T>(work: Promise<T>): Promise<T> {
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
    openReader: (request) => counted(open(request, {})),
    readBack: (request: ReadBackRequest): Promise<readonly ReadBack[]> => {
      if (closing !== undefined) {
        return Promise.reject(kafkaErrors.create('TM_KAFKA_CLOSED', { operation: 'readBack' }))
      }
      const tuning = readBackTuning(request.records)
      return counted(readBackRecords(request, (round) => open({ ...request, ...round }, tuning)))
    },
    close: () =>
      (closing ??= (async () => {
        // A failing opening adds the release of its client while it is waited for.
        while (underWay.size > 0) await Promise.all(underWay)
        await Promise.all([...readers].map((reader) => reader.close()))
        await inspector.close()
      })()),
  }
}
