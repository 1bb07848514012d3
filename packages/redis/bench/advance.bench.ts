// The store leg alone: a step of ours against a pipeline without a checkpoint, and against a pipeline plus SET.
// Prints a JSON object a line; ratios are taken round by round in one run, in alternating order.
import { Redis } from 'ioredis'
import { offsetOf, topicIdOf } from '@tidemark/core'
import { createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { RedisStepForm } from '@tidemark/redis/checkpoint'
import type { LogIdentity } from '@tidemark/log'
import { startRedis } from '@tidemark/testkit/service'

interface Dispatch {
  readonly recipients: readonly string[]
  readonly createdAt: number
  readonly conversation: string
}

interface Contender {
  readonly name: string
  /** Writes records from..to of the run. */
  batch(records: readonly Dispatch[], from: number): Promise<void>
  close(): Promise<void>
}

const identity: LogIdentity = {
  clusterId: 'bench',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 1,
}

const rounds = Number(process.env['TIDEMARK_BENCH_ROUNDS'] ?? 9)
const recordsPerRound = Number(process.env['TIDEMARK_BENCH_RECORDS'] ?? 10_000)
const recipientsPerRecord = 3
const users = 1_000

/** A fixed sequence, so that all contenders write the same. */
function makeRecords(count: number): readonly Dispatch[] {
  let state = 42
  const draw = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    // The low bits of such a generator repeat after a few draws.
    return Math.floor(state / 1_024) % below
  }
  return Array.from({ length: count }, (_, index) => ({
    recipients: Array.from({ length: recipientsPerRecord }, () => `convs:user-${draw(users)}`),
    createdAt: 1_700_000_000_000 + index,
    conversation: `conversation-${draw(5_000)}`,
  }))
}

async function pipelineContender(url: string, withCheckpoint: boolean): Promise<Contender> {
  const client = new Redis(url, { lazyConnect: true })
  await client.connect()
  return {
    name: withCheckpoint ? 'pipeline, then SET checkpoint' : 'pipeline without checkpoint',
    async batch(records, from) {
      const pipeline = client.pipeline()
      for (const { recipients, createdAt, conversation } of records) {
        for (const key of recipients) pipeline.zadd(key, 'GT', createdAt, conversation)
      }
      const replies = await pipeline.exec()
      if (replies?.some(([error]) => error !== null) !== false) throw new Error('a write failed')
      if (withCheckpoint) await client.set('checkpoint', String(from + records.length))
    },
    close: async () => client.disconnect(),
  }
}

async function storeContender(url: string, form: RedisStepForm): Promise<Contender> {
  const shared = { redis: createSafeRedis(url), namespace: `bench_${form}` }
  const store =
    form === 'atomic'
      ? createRedisProjectionStore({ ...shared, form: 'atomic' })
      : createRedisProjectionStore({ ...shared, form: 'two-step' })
  const { fences } = await store.claim({ topic: identity.topic, partitionCount: 1 })
  const created = await store.bootstrap({ identity, createMeta: true, partitions: [0], fences })
  if (created.kind !== 'created') throw new Error(`bootstrap: ${created.kind}`)
  const { incarnation } = await store.read({ topic: identity.topic, partitionCount: 1 })
  const digest = 'ab'.repeat(32)
  return {
    name: `tidemark ${form}`,
    async batch(records, from) {
      const writes = store.newWrites()
      for (const { recipients, createdAt, conversation } of records) {
        for (const key of recipients) writes.writer.zadd(key, 'GT', createdAt, conversation)
      }
      const to = from + records.length
      const outcome = await store.advance({
        identity,
        partition: 0,
        fence: fences.get(0)!,
        process: incarnation.process,
        from: offsetOf(from),
        to: offsetOf(to),
        writes: writes as never,
        witness: { offset: offsetOf(to - 1), leaderEpoch: 0, digest },
        quarantine: [],
      })
      if (outcome.kind !== 'advanced') throw new Error(`advance: ${outcome.kind}`)
    },
    close: () => store.close(),
  }
}

/** Records a second. */
async function measure(
  contender: Contender,
  records: readonly Dispatch[],
  batchSize: number,
  from: number,
): Promise<number> {
  const startedAt = performance.now()
  for (let index = 0; index < records.length; index += batchSize) {
    await contender.batch(records.slice(index, index + batchSize), from + index)
  }
  return (records.length * 1_000) / (performance.now() - startedAt)
}

const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

const spread = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  return (at(0.75) - at(0.25)) / median(values)
}

async function main(): Promise<void> {
  const server = await startRedis()
  try {
    const records = makeRecords(recordsPerRound)
    const contenders = [
      await pipelineContender(server.url, false),
      await pipelineContender(server.url, true),
      await storeContender(server.url, 'atomic'),
      await storeContender(server.url, 'two-step'),
    ] as const
    const written = new Map<Contender, number>(contenders.map((contender) => [contender, 0]))
    for (const batchSize of [1, 10, 100, 500]) {
      const share = batchSize === 1 ? 10 : batchSize === 10 ? 4 : 1
      const rates = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]))
      for (let round = -1; round < rounds; round += 1) {
        const order = round % 2 === 0 ? contenders : [...contenders].reverse()
        for (const contender of order) {
          const from = written.get(contender)!
          const part = records.slice(0, recordsPerRound / share)
          const rate = await measure(contender, part, batchSize, from)
          written.set(contender, from + part.length)
          // The first round warms up the compiler and the scripts.
          if (round >= 0) rates.get(contender)!.push(rate)
        }
      }
      const [bare, naive, ...ours] = contenders
      for (const own of ours) {
        for (const peer of [bare, naive]) {
          const [mine, theirs] = [rates.get(own)!, rates.get(peer)!]
          const ratios = mine.map((rate, index) => rate / theirs[index]!)
          const line = {
            bench: 'redis/advance',
            metric: `${own.name}, batch ${batchSize}`,
            ours: Math.round(median(mine)),
            peer: Math.round(median(theirs)),
            peerName: peer.name,
            ratio: Number(median(ratios).toFixed(3)),
            ratioIs: `median of ${ratios.length} rounds`,
            spread: Number(spread(ratios).toFixed(3)),
            unit: 'records/s',
          }
          process.stdout.write(`${JSON.stringify(line)}\n`)
        }
      }
    }
    for (const contender of contenders) await contender.close()
  } finally {
    await server.close()
  }
}

await main()
