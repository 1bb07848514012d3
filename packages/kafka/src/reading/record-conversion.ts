import type { LogRecord, RecordHeader } from '@tidemark/log'
import type { Offset } from '@tidemark/core'
import type { ConfluentMessage } from './confluent-client.ts'

const noHeaders: readonly RecordHeader[] = []

/**
 * The record a client message stands for. The caller has checked that its offset is a safe integer.
 *
 * Cost: one object; key, value and header bytes are the client's own buffers.
 */
export function recordOf(message: ConfluentMessage): LogRecord {
  return {
    partition: message.partition,
    offset: BigInt(message.offset) as Offset,
    leaderEpoch: message.leaderEpoch ?? -1,
    timestampMs: message.timestamp ?? -1,
    key: message.key,
    value: message.value,
    headers: message.headers === undefined ? noHeaders : message.headers.map(headerOf),
  }
}

/** The client gives each header as an object with one property, so a header named `__proto__` becomes its prototype. */
function headerOf(header: object): RecordHeader {
  const name = Object.keys(header)[0]
  if (name !== undefined) return { name, value: (header as Record<string, Uint8Array | null>)[name] ?? null }
  const prototype: unknown = Object.getPrototypeOf(header)
  return { name: '__proto__', value: prototype instanceof Uint8Array ? prototype : null }
}
