import type { KafkaAdmin } from '../../src/kafka-admin.ts'

/** What a dispatch says: a conversation was written to at a time, by way of these users. */
export interface Dispatch {
  readonly conversation: string
  readonly createdAt: number
  readonly users: readonly string[]
}

const users = 1_000
const recipients = 3

/** The value of record `index` of a partition, always the same: about 110 bytes, three recipients, a conversation of its own. */
export function dispatchValue(partition: number, index: number): string {
  const first = scattered(partition * 1_000_003 + index)
  // Three users that differ.
  const names = Array.from({ length: recipients }, (_, at) => `"user-${(first + at * (1 + (first % 300))) % users}"`)
  return `{"conversation":"c-${partition}-${index}","createdAt":${1_700_000_000_000 + index},"users":[${names.join(',')}]}`
}

/** A number scattered evenly over the users: neighbours meet as often as chance has it. */
function scattered(n: number): number {
  let mixed = Math.imul(n ^ 0x9e37_79b9, 0x85eb_ca6b)
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35)
  return ((mixed ^ (mixed >>> 16)) >>> 0) % users
}

/** The dispatch a record's bytes stand for. The one decoder of all contenders. */
export function readDispatch(value: Uint8Array): Dispatch {
  return JSON.parse((value as Buffer).toString('utf8')) as Dispatch
}

/** A topic with so many records, spread evenly over its partitions. */
export async function fillTopic(admin: KafkaAdmin, partitions: number, records: number): Promise<string> {
  const topic = await admin.createTopic(partitions)
  const perPartition = records / partitions
  const chunk = 25_000
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let from = 0; from < perPartition; from += chunk) {
      const count = Math.min(chunk, perPartition - from)
      const values = Array.from({ length: count }, (_, at) => dispatchValue(partition, from + at))
      await admin.append(topic, partition, values)
    }
  }
  return topic
}
