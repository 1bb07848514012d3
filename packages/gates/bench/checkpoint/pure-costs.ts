import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { encodeCheckpoint, encodeMeta, namespaceOf, planStart } from '@tidemark/checkpoint'
import type { PlanInput } from '@tidemark/checkpoint'
import { offsetOf, topicIdOf } from '@tidemark/core'
import { encodeFence, encodeWitness, witnessOf } from '@tidemark/log'
import type { LogRecord } from '@tidemark/log'
import { printAgainstLimit, printResult, say } from './bench-output.ts'
import { dispatchValue } from './dispatch-records.ts'

const topic = 'dispatch'
const topicId = topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5')

/** What a start over so many partitions is planned from: everything stored, everything answered. */
function planInput(partitionCount: number): PlanInput {
  const identity = { clusterId: 'bench', topic, topicId, partitionCount }
  const numbers = Array.from({ length: partitionCount }, (_, partition) => partition)
  const record = (partition: number): LogRecord => ({
    partition,
    offset: offsetOf(99),
    leaderEpoch: 0,
    timestampMs: 1_700_000_000_000,
    key: null,
    value: Buffer.from(dispatchValue(partition, 99)),
    headers: [],
  })
  return {
    namespace: namespaceOf('session_projection'),
    topic,
    readyTarget: 'hw',
    writeModel: 'idempotent',
    declarations: { latestRecordPerKeySuffices: false, dataKeysCarryNoExpiry: false },
    stored: {
      meta: encodeMeta(identity),
      checkpoints: new Map(
        numbers.map((partition) => [partition, encodeCheckpoint({ identity, partition, nextOffset: offsetOf(100) })]),
      ),
      fences: new Map(numbers.map((partition) => [partition, encodeFence({ epoch: 1n, nonce: 'ab'.repeat(16) })])),
      witnesses: new Map(numbers.map((partition) => [partition, encodeWitness(witnessOf(record(partition)))])),
      quarantined: new Map(),
      unreadable: [],
      incarnation: { nonce: 'cd'.repeat(16), process: 'bench' },
      facts: {
        durability: 'server',
        isPrimary: true,
        isLoaded: true,
        eviction: { kind: 'keeps-all', policy: 'noeviction' },
        expiringKeys: [],
        database: { expected: '0', found: '0' },
      },
    },
    identity: { kind: 'proven', identity },
    bounds: {
      kind: 'bounds',
      partitions: numbers.map((partition) => ({
        partition,
        low: offsetOf(0),
        lastStableOffset: offsetOf(200),
        highWatermark: offsetOf(200),
      })),
    },
    settings: { kind: 'settings', settings: { retentionMs: -1n, cleanupPolicy: 'delete', compacted: false } },
    readBacks: numbers.map((partition) => ({
      kind: 'record',
      partition,
      offset: offsetOf(99),
      witness: witnessOf(record(partition)),
    })),
  }
}

/** How long the planner thinks about a start; the digests were made where the records arrived, and are only compared. */
export function benchPlanner(partitions: number, rounds: number): void {
  say(`planner for ${partitions} partitions`)
  const input = planInput(partitions)
  const withoutRecords = { ...input, stored: { ...input.stored, witnesses: new Map() }, readBacks: [] }
  for (const [name, planned] of [
    ['planner, nothing read back', withoutRecords],
    ['planner, every last record read back', input],
  ] as const) {
    const times: number[] = []
    // Half of them warm up: the compiler takes some hundred runs to settle.
    const repeats = Math.max(20, rounds * 100)
    for (let repeat = -repeats; repeat < repeats; repeat += 1) {
      const from = performance.now()
      const verdict = planStart(planned)
      const tookMs = performance.now() - from
      if (verdict.kind !== 'start') throw new Error(JSON.stringify(verdict.refusals.slice(0, 3)))
      if (repeat >= 0) times.push(tookMs)
    }
    printAgainstLimit(`${name}, ${partitions} partitions`, times, 1, 'ms')
  }
}

/**
 * Heap that checkpoint codec, witness and planner take for a step of 1,000 records and for one of 100: where both take
 * the same, a record costs nothing.
 */
export function benchCodec(): void {
  say('heap that codec and planner take for a step')
  const identity = { clusterId: 'bench', topic, topicId, partitionCount: 1 }
  const records = Array.from({ length: 1_000 }, (_, index) => index)
  const value = Buffer.from(dispatchValue(0, 1))
  const input = planInput(1)
  const subjects = {
    codec: (count: number): void => {
      const last = records[count - 1]!
      encodeCheckpoint({ identity, partition: 0, nextOffset: offsetOf(last) })
      const record = {
        partition: 0,
        offset: offsetOf(last),
        leaderEpoch: 0,
        timestampMs: 1,
        key: null,
        value,
        headers: [],
      }
      encodeWitness(witnessOf(record))
    },
    // The planner never sees a record: a longer log is other numbers, not more of them.
    planner: (count: number): void => {
      const [bounds] = (input.bounds as { readonly partitions: readonly { readonly low: bigint }[] }).partitions
      const moved = { ...bounds!, highWatermark: offsetOf(1_000 + count), lastStableOffset: offsetOf(1_000 + count) }
      planStart({ ...input, bounds: { kind: 'bounds', partitions: [moved as never] } })
    },
  }
  for (const [name, work] of Object.entries(subjects)) {
    const [few, many] = [heapPerCall(() => work(100)), heapPerCall(() => work(1_000))]
    say(`${name}: ${((many - few) / 900).toFixed(2)} bytes a record more`)
    printResult({
      metric: `${name}, heap of a step of 1,000 records`,
      ours: many,
      peer: few,
      peerName: 'a step of 100 records',
      ratio: many / few,
      spread: 0,
      unit: 'bytes',
    })
  }
}

/** Bytes that a call leaves on the young heap, the least of several readings; a collection in between spoils a reading. */
function heapPerCall(work: () => void): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const calls = 500
  for (let call = 0; call < 20 * calls; call += 1) work()
  let least = Number.POSITIVE_INFINITY
  for (let reading = 0; reading < 9; reading += 1) {
    collect()
    const before = process.memoryUsage().heapUsed
    for (let call = 0; call < calls; call += 1) work()
    const perCall = (process.memoryUsage().heapUsed - before) / calls
    if (perCall > 0) least = Math.min(least, perCall)
  }
  return least
}
