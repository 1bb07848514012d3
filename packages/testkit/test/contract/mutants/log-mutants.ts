import { offsetOf, topicIdOf } from '@tidemark/core'
import { witnessOf } from '@tidemark/log'
import type { CommittedLog, LogReader, PartitionBatch, PollResult } from '@tidemark/log'
import type { SimLogWorld } from '@tidemark/testkit/sim'

/** A log with one planted bug, and the case that must find it. */
export interface LogMutant {
  readonly name: string
  readonly caughtBy: string
  wrap(log: CommittedLog, sim: SimLogWorld): CommittedLog
}

const topicOf = (sim: SimLogWorld) => sim.cluster.topic('contract')

function changedLog(
  name: string,
  caughtBy: string,
  change: (log: CommittedLog, sim: SimLogWorld) => Partial<CommittedLog>,
): LogMutant {
  return { name, caughtBy, wrap: (log, sim) => ({ ...log, ...change(log, sim) }) }
}

function changedReader(
  name: string,
  caughtBy: string,
  change: (reader: LogReader, sim: SimLogWorld) => Partial<LogReader>,
): LogMutant {
  return changedLog(name, caughtBy, (log, sim) => ({
    async openReader(request) {
      const reader = await log.openReader(request)
      return { ...reader, ...change(reader, sim) }
    },
  }))
}

function changedBatches(
  name: string,
  caughtBy: string,
  change: (batch: PartitionBatch, sim: SimLogWorld) => PartitionBatch,
): LogMutant {
  return changedReader(name, caughtBy, (reader, sim) => ({
    async poll(request): Promise<PollResult> {
      const result = await reader.poll(request)
      if (result.kind === 'failed') return result
      return { kind: 'fetched', batches: result.batches.map((batch) => change(batch, sim)) }
    },
  }))
}

/** Reopens at another position when the asked one is out of range, as a reset policy does. */
function resetTo(name: string, caughtBy: string, where: 'low' | 'high'): LogMutant {
  return changedLog(name, caughtBy, (log, sim) => ({
    openReader(request) {
      const positions = request.positions.map(({ partition, nextOffset }) => {
        const { low, highWatermark } = topicOf(sim).partition(partition).bounds()
        const inside = nextOffset >= low && nextOffset <= highWatermark
        return { partition, nextOffset: inside ? nextOffset : where === 'low' ? low : highWatermark }
      })
      return log.openReader({ ...request, positions })
    },
  }))
}

const readerMutants: readonly LogMutant[] = [
  resetTo('out of range starts at the beginning', 'CLG-12', 'low'),
  resetTo('out of range starts at the end', 'CLG-11', 'high'),
  changedLog('positions are ignored: everything is read from the low end', 'CLG-01', (log) => ({
    openReader: (request) =>
      log.openReader({
        ...request,
        positions: request.positions.map(({ partition }) => ({ partition, nextOffset: offsetOf(0) })),
      }),
  })),
  changedReader('reads uncommitted records', 'CLG-31', (reader, sim) => {
    const next = [0n, 0n]
    return {
      async poll(request) {
        const result = await reader.poll(request)
        if (result.kind === 'failed') return result
        const batches = result.batches.map((batch): PartitionBatch => {
          const from = offsetOf(next[batch.partition]!)
          const read = topicOf(sim).partition(batch.partition).readUncommitted(from, request.recordsMax)
          next[batch.partition] = read.next
          return { partition: batch.partition, records: read.records, endOffset: read.next }
        })
        return { kind: 'fetched', batches }
      },
    }
  }),
  changedReader('the end is reported before the records', 'CLG-02', (reader, sim) => ({
    async poll(request) {
      const result = await reader.poll(request)
      if (result.kind === 'failed' || result.batches.length === 0) return result
      const [first, ...rest] = result.batches
      if (first === undefined || first.records.length < 2) return result
      const endOffset = topicOf(sim).partition(first.partition).bounds().lastStableOffset
      return { kind: 'fetched', batches: [{ partition: first.partition, records: [], endOffset }, first, ...rest] }
    },
  })),
  changedBatches('the end is the last record plus one', 'CLG-30', (batch) => {
    const last = batch.records.at(-1)
    if (batch.endOffset === undefined) return batch
    if (last !== undefined) return { ...batch, endOffset: offsetOf(last.offset + 1n) }
    return { partition: batch.partition, records: batch.records }
  }),
  changedBatches('the end of an idle partition is never reported', 'CLG-03', (batch) =>
    batch.records.length > 0 ? batch : { partition: batch.partition, records: [] },
  ),
  changedBatches('records of one poll come in reverse', 'CLG-02', (batch) => ({
    ...batch,
    records: [...batch.records].reverse(),
  })),
  changedBatches('the last record of a batch of three or more is lost', 'CLG-02', (batch) =>
    batch.records.length < 3 ? batch : { ...batch, records: batch.records.slice(0, -1) },
  ),
  changedBatches('empty values become null', 'CLG-06', (batch) => ({
    ...batch,
    records: batch.records.map((record) => (record.value?.byteLength === 0 ? { ...record, value: null } : record)),
  })),
  changedBatches('repeated headers are merged', 'CLG-07', (batch) => ({
    ...batch,
    records: batch.records.map((record) => ({
      ...record,
      headers: [...new Map(record.headers.map((header) => [header.name, header])).values()],
    })),
  })),
  changedReader('a failure is reported once and then forgotten', 'CLG-11', (reader) => {
    let failed = false
    return {
      async poll(request) {
        const result = failed ? undefined : await reader.poll(request)
        failed ||= result?.kind === 'failed'
        return result ?? { kind: 'fetched', batches: [] }
      },
    }
  }),
  changedReader('pausing drops what was fetched', 'CLG-10', (reader) => {
    let dropping = false
    return {
      pause(partitions) {
        dropping = true
        reader.pause(partitions)
      },
      async poll(request) {
        const result = await reader.poll(request)
        if (!dropping || result.kind === 'failed' || result.batches.length === 0) return result
        dropping = false
        return { kind: 'fetched', batches: [] }
      },
    }
  }),
  changedReader('pausing does nothing', 'CLG-09', () => ({ pause: () => undefined })),
  changedReader('resuming does nothing', 'CLG-09', () => ({ resume: () => undefined })),
  changedReader('a closed reader goes on', 'CLG-15', () => ({ close: async () => undefined })),
  changedReader('more records are handed out than asked for', 'CLG-02', (reader) => ({
    poll: (request) => reader.poll({ ...request, recordsMax: request.recordsMax + 5 }),
  })),
]

const inspectorMutants: readonly LogMutant[] = [
  changedLog('identity is asked once and remembered', 'CLG-57', (log) => {
    let first: ReturnType<CommittedLog['inspector']['surveyIdentity']> | undefined
    return {
      inspector: {
        ...log.inspector,
        surveyIdentity: (topic, options) => (first ??= log.inspector.surveyIdentity(topic, options)),
      },
    }
  }),
  changedLog('the last stable offset is the high watermark', 'CLG-33', (log) => ({
    inspector: {
      ...log.inspector,
      async readBounds(topic, partitionCount, options) {
        const reading = await log.inspector.readBounds(topic, partitionCount, options)
        if (reading.kind === 'unreadable') return reading
        const partitions = reading.partitions.map((bounds) => ({ ...bounds, lastStableOffset: bounds.highWatermark }))
        return { kind: 'bounds', partitions }
      },
    },
  })),
  changedLog('low is always 0', 'CLG-53', (log) => ({
    inspector: {
      ...log.inspector,
      async readBounds(topic, partitionCount, options) {
        const reading = await log.inspector.readBounds(topic, partitionCount, options)
        if (reading.kind === 'unreadable') return reading
        return { kind: 'bounds', partitions: reading.partitions.map((bounds) => ({ ...bounds, low: offsetOf(0) })) }
      },
    },
  })),
  changedLog('a missing partition is left out of the bounds', 'CLG-56', (log, sim) => ({
    inspector: {
      ...log.inspector,
      readBounds: (topic, partitionCount, options) =>
        log.inspector.readBounds(
          topic,
          Math.min(partitionCount, sim.cluster.findTopic(topic)?.partitionCount ?? partitionCount),
          options,
        ),
    },
  })),
  changedLog('inspecting an unknown topic rejects', 'CLG-55', (log, sim) => ({
    inspector: {
      ...log.inspector,
      async surveyIdentity(topic, options) {
        sim.cluster.topic(topic)
        return log.inspector.surveyIdentity(topic, options)
      },
    },
  })),
]

const readBackMutants: readonly LogMutant[] = [
  changedLog('reading back takes the next record where none stands', 'CLG-38', (log, sim) => ({
    async readBack(request) {
      return request.records.map(({ partition, offset }) => {
        const [record] = topicOf(sim).partition(partition).readCommitted(offset, 1).records
        if (record === undefined) return { kind: 'absent', partition, offset }
        return { kind: 'record', partition, offset, witness: witnessOf(record) }
      })
    },
  })),
  changedLog('reading back finds nothing at all', 'CLG-36', () => ({
    readBack: async (request) =>
      request.records.map(({ partition, offset }) => ({ kind: 'absent', partition, offset })),
  })),
  changedLog('opening an unknown topic succeeds', 'CLG-14', (log) => ({
    async openReader(request) {
      const known = request.positions.every(({ partition }) => partition < 2) && !request.topic.includes('nowhere')
      if (known) return log.openReader(request)
      return log.openReader({ ...request, topic: 'contract', positions: [] })
    },
  })),
  changedLog('opening an unknown topic throws anything', 'CLG-14', (log) => ({
    openReader: (request) =>
      log.openReader(request).catch((error: unknown) => Promise.reject(new Error('broker: unknown', { cause: error }))),
  })),
]

/** A log that fetches by name and calls itself pinned is a planted bug as it stands. */
const pinnedMutants: readonly LogMutant[] = [
  changedLog('a log that fetches by name calls itself pinned, and goes on in a recreated topic', 'CLG-58', () => ({})),
  changedLog('a log that calls itself pinned does not say what its batches were served as', 'CLG-59', () => ({})),
  changedBatches('a log stamps its batches with an id of its own making', 'CLG-59', (batch) => ({
    ...batch,
    servedTopicId: topicIdOf('0d9c2a51-5a4f-4d1e-9b7f-64a3a1f0c2de'),
  })),
  changedLog('a log that calls itself pinned adopts the id it finds', 'CLG-60', () => ({})),
]

/** Every planted bug of a log. Each must be found by the case it names. */
export const logMutants: readonly LogMutant[] = [
  ...readerMutants,
  ...inspectorMutants,
  ...readBackMutants,
  ...pinnedMutants,
]
