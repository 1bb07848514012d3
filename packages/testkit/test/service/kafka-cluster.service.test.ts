import { Admin, Producer } from '@platformatic/kafka'
import { afterAll, describe, expect, it } from 'vitest'
import { sharedKafkaBrokers, startKafka } from '@tidemark/testkit/service'
import type { KafkaCluster } from '@tidemark/testkit/service'

const open: KafkaCluster[] = []
afterAll(async () => {
  await Promise.all(open.splice(0).map((cluster) => cluster.close()))
})

/** Every message and protocol error inside a failure; empty when there was none. */
async function reasonsOf(work: Promise<unknown>): Promise<string> {
  const found: string[] = []
  const walk = (error: unknown): void => {
    if (!(error instanceof Error)) return
    found.push(error.message, (error as { apiId?: string }).apiId ?? '')
    walk(error.cause)
    if (error instanceof AggregateError) error.errors.forEach(walk)
  }
  await work.catch(walk)
  return found.join(' | ')
}

describe('startKafka', () => {
  it('serves three brokers that know each other, and keeps serving while one is killed and restarted', async () => {
    const cluster = await startKafka({ brokers: 3 })
    open.push(cluster)
    const admin = new Admin({
      clientId: 'testkit',
      bootstrapBrokers: [...cluster.bootstrapBrokers],
      retries: 10,
      retryDelay: 300,
    })
    try {
      const before = await admin.metadata({})
      expect(before.id).toBe(cluster.clusterId)
      expect([...before.brokers.keys()].toSorted((a, b) => a - b)).toEqual([1, 2, 3])
      await admin.createTopics({ topics: ['survivor'], partitions: 1, replicas: 3 })
      await cluster.brokers[2]!.kill()
      expect(cluster.brokers[2]!.state()).toBe('dead')
      await cluster.brokers[2]!.restart()
      const after = await admin.metadata({ topics: ['survivor'], forceUpdate: true })
      expect([...after.topics.keys()]).toEqual(['survivor'])
    } finally {
      await admin.close()
      await cluster.close()
    }
  })

  it('refuses a wrong password and a user without permission on the SASL listener', async () => {
    const cluster = await startKafka({
      users: [
        { name: 'owner', password: 'owner-pw', super: true },
        { name: 'guest', password: 'guest-pw', super: false },
      ],
    })
    open.push(cluster)
    const attempt = async (username: string, password: string): Promise<unknown> => {
      const admin = new Admin({
        clientId: 'testkit',
        bootstrapBrokers: [...cluster.saslBrokers],
        sasl: { mechanism: 'PLAIN', username, password },
        retries: 0,
      })
      try {
        return await admin.createTopics({ topics: [`by-${username}`], partitions: 1, replicas: 1 })
      } finally {
        await admin.close()
      }
    }
    await expect(attempt('owner', 'owner-pw')).resolves.toMatchObject([{ name: 'by-owner' }])
    expect(await reasonsOf(attempt('guest', 'guest-pw'))).toMatch(/AUTHORIZATION_FAILED/)
    expect(await reasonsOf(attempt('owner', 'wrong'))).toMatch(/SASL authentication failed|SASL_AUTHENTICATION_FAILED/i)
    await cluster.close()
  })
})

describe('the shared Kafka', () => {
  it('takes a record and gives its offset', async () => {
    const bootstrapBrokers = [...(await sharedKafkaBrokers())]
    const admin = new Admin({ clientId: 'testkit', bootstrapBrokers })
    const producer = new Producer({ clientId: 'testkit', bootstrapBrokers })
    const topic = `testkit-shared-${process.pid}`
    await admin.createTopics({ topics: [topic], partitions: 1, replicas: 1 })
    const sent = await producer.send({ messages: [{ topic, value: Buffer.from('v') }], acks: -1 })
    expect(sent.offsets?.[0]).toMatchObject({ topic, partition: 0, offset: 0n })
    await admin.deleteTopics({ topics: [topic] })
    await Promise.all([admin.close(), producer.close()])
  })
})
