import type { CommittedLog, LogReader } from '@tidemark/log'
import type { KafkaCluster } from '@tidemark/testkit/service'
import { createCuttingProxy, startKafka } from '@tidemark/testkit/service'
import type { CuttingProxy } from '@tidemark/testkit/service'
import { judgeSurvey } from '@tidemark/log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkConnection } from '../../src/connection-options.ts'
import type { BrokerAddress } from '../../src/connection-options.ts'
import { newBrokerConnections } from '../../src/inspection/broker-connections.ts'
import type { BrokerConnections } from '../../src/inspection/broker-connections.ts'
import { newTopicLeaders } from '../../src/pinned/topic-leaders.ts'
import { createPinnedKafkaLog } from '../../src/pinned/index.ts'
import type { Delivered, KafkaFixture } from '../kafka-fixture.ts'
import { at, called, endsOf, offsetsOf, openFixture, rawClient, readUntil, waitFor } from '../kafka-fixture.ts'

/** An election that is waited for takes 20 s and more: the full size runs these, both sizes the gates on three brokers. */
const elections = process.env['TIDEMARK_SIZE'] === 'full' ? ['waited for'] : []
let cluster: KafkaCluster
let kafka: KafkaFixture
let log: CommittedLog
let proxies: CuttingProxy[]
let connections: BrokerConnections
let bootstrap: readonly BrokerAddress[]

beforeAll(async () => {
  proxies = []
  cluster = await startKafka({
    brokers: 3,
    controllers: 'first',
    async throughProxy({ host, port }) {
      const proxy = await createCuttingProxy({ target: { host, port }, framing: 'bytes' })
      proxies.push(proxy)
      return `${proxy.host}:${proxy.port}`
    },
  })
  kafka = await openFixture(cluster.bootstrapBrokers)
  log = createPinnedKafkaLog({ brokers: cluster.bootstrapBrokers })
  const connection = checkConnection({ brokers: cluster.bootstrapBrokers })
  bootstrap = connection.brokers
  connections = newBrokerConnections(connection)
})

afterAll(async () => {
  await log?.close()
  await connections?.close()
  await kafka?.close()
  await cluster?.close()
  await Promise.all(proxies.map((proxy) => proxy.close()))
})

const partitions = [0, 1, 2]
const openAt = (topic: string, from: number, of: CommittedLog = log, which = partitions): Promise<LogReader> =>
  of.openReader({
    topic,
    positions: which.map((partition) => ({ partition, nextOffset: at(from) })),
    deadlineMs: 15_000,
  })
const upTo = (end: number) => (so: Delivered) => partitions.every((partition) => endsOf(so)[partition] === end)
const counted = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n)

async function healthy(topic: string): Promise<void> {
  await waitFor(async () => {
    const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 3_000 })
    return survey.answers.length === 3 && judgeSurvey(survey, undefined).kind === 'proven'
  })
}

/** Asked of all brokers at once: a frozen one must not hold the answer up. */
async function leaderOf(topic: string): Promise<number> {
  const reading = await newTopicLeaders(connections, bootstrap).ask(topic, 1_000)
  return reading.kind === 'described' ? (reading.leaders.get(0)?.leaderId ?? -1) : -1
}

/** With a client that has never known the frozen broker: one that has would wait for it. */
async function appendThrough(brokers: readonly string[], topic: string, count: number): Promise<void> {
  const producer = new rawClient.Producer({ 'bootstrap.servers': brokers.join(',') })
  await called((done) => producer.connect({ timeout: 20_000 }, done))
  for (let n = 0; n < count; n += 1) producer.produce(topic, 0, Buffer.from(`v${n}`), 'k')
  await called((done) => producer.flush(20_000, done))
  await called((done) => producer.disconnect(done))
}

const brokerOf = (nodeId: number) => cluster.brokers.find((broker) => broker.nodeId === nodeId)!

describe('three brokers under the pinned log', () => {
  it('[KAF-20] a broker that is killed and comes back under a live reader costs no record and repeats none', async () => {
    const topic = await kafka.createTopic(3, {}, undefined, 3)
    for (const partition of partitions) await kafka.append(topic, partition, 50)
    const reader = await openAt(topic, 0)
    const before = await readUntil(reader, upTo(50), 20_000)
    const killed = cluster.brokers[1]!
    await killed.kill()
    try {
      for (const partition of partitions) await kafka.append(topic, partition, 50)
      const during = await readUntil(reader, upTo(100), 30_000)
      expect(during.failure).toBeUndefined()
      for (const partition of partitions) {
        expect([...offsetsOf(before, partition), ...offsetsOf(during, partition)]).toEqual(counted(0, 100))
      }
    } finally {
      await killed.restart()
    }
    await healthy(topic)
    for (const partition of partitions) await kafka.append(topic, partition, 20)
    const after = await readUntil(reader, upTo(120), 30_000)
    expect(after.failure).toBeUndefined()
    for (const partition of partitions) expect(offsetsOf(after, partition)).toEqual(counted(100, 120))
    await reader.close()
  })

  it.each(elections)(
    '[KAF-20] an election %s: a frozen leader is left for the new one, long before its own deadline',
    async () => {
      const topic = await kafka.createTopic(1, {}, undefined, 3)
      await kafka.append(topic, 0, 5)
      const reader = await openAt(topic, 0, log, [0])
      await readUntil(reader, (so) => endsOf(so)[0] === 5, 20_000)
      const frozen = brokerOf(await leaderOf(topic))
      frozen.pause()
      try {
        await waitFor(async () => ![-1, frozen.nodeId].includes(await leaderOf(topic)))
        const movedMs = performance.now()
        await appendThrough(
          cluster.brokers.filter((broker) => broker !== frozen).map(({ address }) => address),
          topic,
          5,
        )
        const { records, failure } = await readUntil(reader, (so) => endsOf(so)[0] === 10, 20_000)
        expect(failure).toBeUndefined()
        expect(records.map(({ offset }) => Number(offset))).toEqual(counted(5, 10))
        expect(performance.now() - movedMs).toBeLessThan(12_000)
      } finally {
        frozen.resume()
      }
      await healthy(topic)
      await kafka.append(topic, 0, 1)
      const after = await readUntil(reader, (so) => endsOf(so)[0] === 11, 20_000)
      expect(after.failure).toBeUndefined()
      expect(offsetsOf(after)).toEqual([10])
      await reader.close()
    },
  )

  it.each(elections)(
    '[KAF-25] [A12] an election %s: a log truncated by an unclean election ends it, although the position is inside the new log',
    async () => {
      const topic = await kafka.createTopic(1, { 'unclean.leader.election.enable': 'true' }, undefined, 2)
      await kafka.append(topic, 0, 10, 'old')
      const first = brokerOf(await leaderOf(topic))
      const { Admin } = await import('@platformatic/kafka')
      const admin = new Admin({ clientId: 'replicas', bootstrapBrokers: [...cluster.bootstrapBrokers] })
      const { replicas } = (await admin.metadata({ topics: [topic] })).topics.get(topic)!.partitions[0]!
      await admin.close()
      const follower = brokerOf(replicas.find((nodeId: number) => nodeId !== first.nodeId)!)
      const reader = await openAt(topic, 0, log, [0])
      await follower.kill()
      await kafka.append(topic, 0, 5, 'lost')
      await readUntil(reader, (so) => endsOf(so)[0] === 15, 30_000)
      await first.kill()
      await follower.restart()
      try {
        await waitFor(async () => (await leaderOf(topic)) === follower.nodeId)
        await kafka.append(topic, 0, 10, 'new')
        const after = await readUntil(reader, () => false, 30_000)
        expect(after.records).toEqual([])
        expect(after.failure).toMatchObject({ reason: 'out-of-range', partition: 0 })
        expect(after.failure?.message).toMatch(/truncated.*ends at 10/)
      } finally {
        await first.restart()
        await reader.close()
      }
      await healthy(topic)
    },
  )

  it('[KAF-20] [KAF-28] connections cut and kept half-open are replaced, and nothing waits beyond its time', async () => {
    const topic = await kafka.createTopic(3, {}, undefined, 3)
    for (const partition of partitions) await kafka.append(topic, partition, 20)
    const through = createPinnedKafkaLog({
      brokers: cluster.proxiedBrokers,
      fetch: { requestMsMax: 1_500, unavailableMsMax: 6_000 },
    })
    try {
      const reader = await openAt(topic, 0, through)
      const first = await readUntil(reader, upTo(20), 20_000)
      for (let round = 0; round < 5; round += 1) {
        for (const proxy of proxies) proxy.cutAll()
        await kafka.append(topic, round % 3, 1)
      }
      const cut = await readUntil(reader, ({ records }) => records.length === 5, 20_000)
      expect(first.failure ?? cut.failure).toBeUndefined()
      expect(offsetsOf(cut, 0)).toEqual([20, 21])
      // Half-open: connections stay, nothing passes. What is told is that nobody serves, in the time that was set.
      for (const proxy of proxies) proxy.silence()
      const silentMs = performance.now()
      const { failure } = await readUntil(reader, () => false, 30_000)
      expect(failure).toMatchObject({ reason: 'connection' })
      expect(performance.now() - silentMs).toBeLessThan(20_000)
      const describedMs = performance.now()
      expect(await reader.describeTopic(1_000)).toMatchObject({ kind: 'no-answer' })
      await expect(openAt(topic, 0, through).then(() => 'opened')).rejects.toMatchObject({
        code: 'TM_KAFKA_UNREACHABLE',
      })
      expect(performance.now() - describedMs).toBeLessThan(18_000)
      const closingMs = performance.now()
      await reader.close()
      expect(performance.now() - closingMs).toBeLessThan(1_000)
    } finally {
      const closingMs = performance.now()
      await through.close()
      expect(performance.now() - closingMs).toBeLessThan(2_000)
      for (const proxy of proxies) proxy.pass()
    }
  })
})
