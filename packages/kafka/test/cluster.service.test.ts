import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judgeSurvey } from '@tidemark/log'
import type { CommittedLog, LogIdentity } from '@tidemark/log'
import type { KafkaCluster } from '@tidemark/testkit/service'
import { startKafka } from '@tidemark/testkit/service'
import { createKafkaLog } from '../src/index.ts'
import type { KafkaFixture } from './kafka-fixture.ts'
import { at, offsetsOf, openFixture, readUntil, waitFor } from './kafka-fixture.ts'

let cluster: KafkaCluster
let kafka: KafkaFixture
let log: CommittedLog

beforeAll(async () => {
  cluster = await startKafka({ brokers: 3, controllers: 'first' })
  kafka = await openFixture(cluster.bootstrapBrokers)
  log = createKafkaLog({ brokers: cluster.bootstrapBrokers })
})

afterAll(async () => {
  await log?.close()
  await kafka?.close()
  await cluster?.close()
})

const survey = async (topic: string, held?: LogIdentity, deadlineMs = 1500) => {
  const found = await log.inspector.surveyIdentity(topic, { deadlineMs })
  return { found, verdict: judgeSurvey(found, held) }
}

describe('three brokers', () => {
  it('[KAF-9] one frozen broker holds the proof while the others list it, and drops out when they do not', async () => {
    const topic = await kafka.createTopic(6, {}, undefined, 3)
    const first = await survey(topic)
    if (first.verdict.kind !== 'proven') throw new Error(JSON.stringify(first.verdict))
    const held = first.verdict.identity
    expect(first.found.answers.map(({ brokerId }) => brokerId).sort((a, b) => a - b)).toEqual([1, 2, 3])
    const frozen = cluster.brokers[2]!
    frozen.pause()
    try {
      const before = performance.now()
      const during = await survey(topic, held)
      expect(performance.now() - before).toBeLessThan(2500)
      expect(during.verdict).toMatchObject({ kind: 'unproven', brokerId: 3, reason: 'timeout' })
      // What any broker may answer does not wait for the frozen one.
      const asked = performance.now()
      expect(await log.inspector.readSettings(topic, { deadlineMs: 5000 })).toMatchObject({ kind: 'settings' })
      expect(performance.now() - asked).toBeLessThan(2500)
      // The others fence it after the session time-out; from then on nobody lists it, and nobody waits for it.
      await waitFor(async () => (await survey(topic, held)).verdict.kind === 'proven')
      const settled = performance.now()
      expect((await survey(topic, held)).verdict.kind).toBe('proven')
      expect(performance.now() - settled).toBeLessThan(1000)
    } finally {
      frozen.resume()
    }
    await waitFor(async () => (await survey(topic, held)).found.answers.length === 3)
  })

  it('[KAF-8] [KAF-11] [KAF-3] a moved leader is found again, bounds and records stay, lost connections are replaced', async () => {
    const topic = await kafka.createTopic(3, {}, undefined, 3)
    for (const partition of [0, 1, 2]) await kafka.append(topic, partition, 10)
    const reader = await log.openReader({
      topic,
      positions: [0, 1, 2].map((partition) => ({ partition, nextOffset: at(0) })),
      deadlineMs: 10_000,
    })
    await readUntil(reader, ({ ends }) => ends.size === 3)
    expect(await log.inspector.readBounds(topic, 3, { deadlineMs: 3000 })).toMatchObject({ kind: 'bounds' })
    await cluster.brokers[2]!.kill()
    try {
      // A killed broker refuses at once: the survey must not wait for its deadline.
      const before = performance.now()
      expect((await survey(topic, undefined, 5000)).verdict.kind).toBe('unproven')
      expect(performance.now() - before).toBeLessThan(2500)
      await waitFor(async () => (await survey(topic)).verdict.kind === 'proven')
      await waitFor(async () => (await log.inspector.readBounds(topic, 3, { deadlineMs: 3000 })).kind === 'bounds')
      expect(await log.inspector.readBounds(topic, 3, { deadlineMs: 3000 })).toEqual({
        kind: 'bounds',
        partitions: [0, 1, 2].map((partition) => ({ partition, low: 0n, lastStableOffset: 10n, highWatermark: 10n })),
      })
      for (const partition of [0, 1, 2]) await kafka.append(topic, partition, 2)
      const delivered = await readUntil(reader, ({ records }) => records.length >= 6, 20_000)
      expect(delivered.failure).toBeUndefined()
      for (const partition of [0, 1, 2]) expect(offsetsOf(delivered, partition)).toEqual([10, 11])
      expect(await reader.describeTopic(3000)).toMatchObject({ kind: 'described' })
    } finally {
      await cluster.brokers[2]!.restart()
    }
    await waitFor(async () => (await survey(topic)).found.answers.length === 3)
    await reader.close()
  })

  it('[KAF-9] a partition without a leader is no answer', async () => {
    const topic = await kafka.createTopic(3, {}, undefined, 1)
    await cluster.brokers[1]!.kill()
    try {
      await waitFor(async () => {
        const { verdict } = await survey(topic)
        return verdict.kind === 'unproven' && verdict.reason === 'no-leader'
      })
      const bounds = await log.inspector.readBounds(topic, 3, { deadlineMs: 1500 })
      expect(bounds).toMatchObject({ kind: 'unreadable' })
    } finally {
      await cluster.brokers[1]!.restart()
    }
    await waitFor(async () => (await survey(topic)).verdict.kind === 'proven')
  })

  it('[KAF-7] [KAF-13] closing while the brokers keep a description waiting is safe, and settles', async () => {
    const topic = await kafka.createTopic(1, {}, undefined, 1)
    const reader = await log.openReader({ topic, positions: [{ partition: 0, nextOffset: at(0) }], deadlineMs: 10_000 })
    await readUntil(reader, ({ ends }) => ends.has(0))
    for (const broker of cluster.brokers) broker.pause()
    try {
      const described = [reader.describeTopic(1500), reader.describeTopic(1500)]
      const before = performance.now()
      const polled = reader.poll({ recordsMax: 10, waitMs: 10_000 })
      await reader.close()
      expect(performance.now() - before).toBeLessThan(8000)
      for (const statement of await Promise.all(described)) expect(statement).toMatchObject({ kind: 'no-answer' })
      expect(await polled).toMatchObject({ kind: 'failed', failure: { reason: 'closed' } })
      expect(await reader.describeTopic(1500)).toMatchObject({ kind: 'no-answer', reason: 'unreachable' })
    } finally {
      for (const broker of cluster.brokers) broker.resume()
    }
    await waitFor(async () => (await survey(topic)).verdict.kind === 'proven')
  })
})
