import { checkLimit, isTidemarkError, messageOf, systemClock } from '@tidemark/core'
import type { Clock } from '@tidemark/core'
import { answerReadBack } from '@tidemark/log'
import type {
  CommittedLog,
  LogIdentity,
  LogReader,
  ReadBack,
  ReadBackRequest,
  ReadBackStretch,
  ReaderRequest,
} from '@tidemark/log'
import { embeddedErrors } from '../errors.ts'
import { createEmbeddedInspector } from './embedded-inspector.ts'
import { createEmbeddedReader } from './embedded-reader.ts'
import { partitionDirectory } from '../log/log-layout.ts'
import { createPartitionCursor } from './partition-cursor.ts'
import type { PartitionCursor } from './partition-cursor.ts'
import { readTopic } from '../log/topic-file.ts'

/** What the reading side of an embedded log needs. */
export interface EmbeddedLogOptions {
  readonly directory: string
  readonly clock?: Clock
  /** How often a waiting poll looks at the files again. */
  readonly pollIntervalMs?: number
}

/**
 * The reading side of a log in files: any number of processes, beside its one writer or without it. Takes no lock and
 * writes nothing. Promises: EMB-11 to EMB-15.
 */
export function createEmbeddedLog(options: EmbeddedLogOptions): CommittedLog {
  const { directory, clock = systemClock } = options
  const pollIntervalMs = checkLimit('pollIntervalMs', options.pollIntervalMs ?? 20, { min: 1, max: 60_000 })
  const readers = new Set<LogReader>()
  let closed = false
  const requireOpen = (): void => {
    if (closed) throw embeddedErrors.create('TM_EMBEDDED_CLOSED', { what: 'the embedded log' })
  }
  return {
    inspector: createEmbeddedInspector(directory, clock),
    async openReader(request) {
      requireOpen()
      const found = await requireTopic(directory, request.topic)
      // Another id than the caller holds is told by the first poll, as it is under a running reader.
      const identity = request.identity ?? found
      const cursors = openCursors(directory, identity, request)
      const reader: LogReader = createEmbeddedReader({
        directory,
        clock,
        pollIntervalMs,
        identity,
        cursors,
        onClose: () => void readers.delete(reader),
      })
      readers.add(reader)
      return reader
    },
    async readBack(request) {
      requireOpen()
      return readBackAll(directory, request)
    },
    async close() {
      closed = true
      for (const reader of [...readers]) await reader.close()
    },
  }
}

function openCursors(
  directory: string,
  identity: LogIdentity,
  request: ReaderRequest,
): ReadonlyMap<number, PartitionCursor> {
  const cursors = new Map<number, PartitionCursor>()
  for (const { partition, nextOffset } of request.positions) {
    checkLimit('partition', partition, { min: 0, max: identity.partitionCount - 1 })
    const own = partitionDirectory(directory, identity.topicId, partition)
    cursors.set(partition, createPartitionCursor(own, partition, nextOffset))
  }
  return cursors
}

async function requireTopic(directory: string, topic: string): Promise<LogIdentity> {
  const reading = await readTopic(directory, topic)
  if (reading.kind === 'described') return reading.topic.identity
  if (reading.reason === 'unreachable') throw embeddedErrors.create('TM_EMBEDDED_LOG_MISSING', { directory })
  if (reading.reason === 'unknown-topic') throw embeddedErrors.create('TM_EMBEDDED_TOPIC_UNKNOWN', { topic })
  throw embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file: directory, position: 0, reason: reading.message })
}

const damaged = { reason: 'damaged' } as const

async function readBackAll(directory: string, request: ReadBackRequest): Promise<readonly ReadBack[]> {
  const reading = await readTopic(directory, request.topic)
  if (reading.kind === 'no-answer') {
    const { message } = reading
    const why = reading.reason === 'damaged' ? damaged : {}
    return request.records.map((each) => ({ kind: 'unreadable', ...each, message, ...why }))
  }
  const { topicId } = reading.topic.identity
  const held = request.identity?.topicId ?? topicId
  if (held !== topicId) {
    const message = `topic ${request.topic} was recreated: its id was ${held}, is ${topicId}`
    return request.records.map((each) => ({ kind: 'unreadable', ...each, message }))
  }
  const answers: ReadBack[] = []
  for (const stretch of request.records) {
    const own = partitionDirectory(directory, topicId, stretch.partition)
    answers.push(
      await readBackOne(own, stretch).catch((error: unknown): ReadBack => ({
        kind: 'unreadable',
        ...stretch,
        message: messageOf(error),
        ...(isTidemarkError(error, 'TM_EMBEDDED_DAMAGED') ? damaged : {}),
      })),
    )
  }
  return answers
}

async function readBackOne(directory: string, stretch: ReadBackStretch): Promise<ReadBack> {
  const cursor = createPartitionCursor(directory, stretch.partition, stretch.offset)
  try {
    const reading = await cursor.read(1)
    if (reading.kind === 'records') {
      const answer = answerReadBack(stretch, reading.records[0], reading.endOffset)
      return answer ?? { kind: 'unreadable', ...stretch, message: 'neither a record nor the end was met' }
    }
    const { message } = reading.failure
    return { kind: 'unreadable', ...stretch, message, ...(reading.damaged ? damaged : {}) }
  } finally {
    await cursor.close()
  }
}
