import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Admin } from '@platformatic/kafka'
import { judgeSurvey } from '@tidemark/log'
import type { KafkaCluster } from '@tidemark/testkit/service'
import { startKafka } from '@tidemark/testkit/service'
import { createKafkaLog } from '../src/index.ts'
import type { KafkaSecurity } from '../src/index.ts'
import type { KafkaFixture } from './kafka-fixture.ts'
import { at, openFixture, readUntil, sleep } from './kafka-fixture.ts'

let cluster: KafkaCluster
let kafka: KafkaFixture
let admin: Admin
let topic: string

const secret = 'p4ss-of-the-reader'
const login = (username: string, password: string = secret): KafkaSecurity => ({
  sasl: { mechanism: 'PLAIN', username, password },
})

beforeAll(async () => {
  const user = (name: string) => ({ name, password: secret, super: false })
  cluster = await startKafka({ users: [user('reader'), user('blind'), user('nogroup'), user('guest')] })
  kafka = await openFixture(cluster.bootstrapBrokers)
  admin = new Admin({ clientId: 'acl', bootstrapBrokers: [...cluster.bootstrapBrokers] })
  topic = await kafka.createTopic()
  await kafka.append(topic, 0, 3)
  // Kafka's numbers: resource 2 topic, 3 group; pattern 3 literal, 4 prefixed; operation 3 read, 8 describe, 10 configs.
  const grant = (principal: string, resourceType: number, resourceName: string, operation: number) => ({
    resourceType,
    resourceName,
    resourcePatternType: resourceType === 3 ? 4 : 3,
    principal: `User:${principal}`,
    host: '*',
    operation,
    permissionType: 3,
  })
  const creations = [
    ...[3, 8, 10].map((operation) => grant('reader', 2, topic, operation)),
    grant('reader', 3, 'tidemark', 8),
    grant('blind', 2, topic, 8),
    grant('blind', 3, 'tidemark', 8),
    grant('nogroup', 2, topic, 3),
  ]
  await admin.createAcls({ creations: creations as never })
  await sleep(500)
})

afterAll(async () => {
  await admin?.close()
  await kafka?.close()
  await cluster?.close()
})

const positions = [{ partition: 0, nextOffset: at(0) }]
const openLog = (security?: KafkaSecurity) =>
  createKafkaLog({ brokers: cluster.saslBrokers, ...(security === undefined ? {} : { security }) })

describe('security', () => {
  it('[KAF-13] one login serves both clients', async () => {
    const log = openLog(login('reader'))
    const identity = judgeSurvey(await log.inspector.surveyIdentity(topic, { deadlineMs: 5000 }), undefined)
    expect(identity).toMatchObject({ kind: 'proven', identity: { partitionCount: 1 } })
    expect(await log.inspector.readBounds(topic, 1, { deadlineMs: 5000 })).toMatchObject({ kind: 'bounds' })
    expect(await log.inspector.readSettings(topic, { deadlineMs: 5000 })).toMatchObject({ kind: 'settings' })
    const reader = await log.openReader({ topic, positions, deadlineMs: 10_000 })
    const delivered = await readUntil(reader, ({ ends }) => ends.has(0))
    expect(delivered).toMatchObject({ failure: undefined, records: [{ offset: 0n }, { offset: 1n }, { offset: 2n }] })
    await log.close()
  })

  it('[KAF-13] wrong credentials are told at once by code, and the password is nowhere in what is told', async () => {
    const log = openLog(login('reader', 'wrong-but-secret'))
    const before = performance.now()
    const error = await log.openReader({ topic, positions, deadlineMs: 5000 }).then(
      () => undefined,
      (thrown: unknown) => thrown,
    )
    expect(error).toMatchObject({ code: 'TM_KAFKA_AUTHENTICATION_FAILED' })
    expect(performance.now() - before).toBeLessThan(4000)
    const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 5000 })
    expect(judgeSurvey(survey, undefined)).toMatchObject({ kind: 'unproven', reason: 'authorization' })
    const bounds = await log.inspector.readBounds(topic, 1, { deadlineMs: 5000 })
    expect(bounds).toMatchObject({ kind: 'unreadable' })
    const told = `${JSON.stringify([error, survey])}${String((error as Error).stack)}${String((error as Error).cause)}`
    expect(told).not.toContain('wrong-but-secret')
    await log.close()
  })

  it('[KAF-7] no permission on the topic is told by code at opening, and as no answer by the survey', async () => {
    const log = openLog(login('guest'))
    await expect(log.openReader({ topic, positions, deadlineMs: 8000 })).rejects.toMatchObject({
      code: 'TM_KAFKA_AUTHORIZATION_FAILED',
      details: { topic },
    })
    const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 5000 })
    expect(judgeSurvey(survey, undefined)).toMatchObject({ kind: 'unproven', reason: 'authorization' })
    expect(await log.inspector.readSettings(topic, { deadlineMs: 5000 })).toMatchObject({ kind: 'unreadable' })
    await log.close()
  })

  it('[KAF-6] permission to describe but not to read ends the reader', async () => {
    const log = openLog(login('blind'))
    const reader = await log.openReader({ topic, positions, deadlineMs: 8000 })
    const delivered = await readUntil(reader, () => false, 8000)
    expect(delivered).toMatchObject({ records: [], failure: { reason: 'authorization' } })
    expect(delivered.failure?.message).toMatch(/topic authorization failed/i)
    await log.close()
  })

  it('[KAF-6] a login without Describe on the group name is told so, and reads nothing', async () => {
    const log = openLog(login('nogroup'))
    const told = await log.openReader({ topic, positions, deadlineMs: 8000 }).then(
      async (reader) => (await readUntil(reader, () => false, 8000)).failure?.message,
      (error: unknown) => (error as Error).message,
    )
    expect(told).toContain('Group authorization failed')
    expect(told).toContain('grant Describe on the group name prefix')
    await log.close()
  })

  it('[KAF-6] a permission withdrawn under a running reader ends it', async () => {
    const log = openLog(login('reader'))
    const reader = await log.openReader({ topic, positions, deadlineMs: 8000 })
    await readUntil(reader, ({ ends }) => ends.has(0))
    const resource = { resourceType: 2, resourceName: topic, resourcePatternType: 3 }
    const rule = { principal: 'User:reader', host: '*', operation: 1, permissionType: 3 }
    await admin.deleteAcls({ filters: [{ ...resource, ...rule }] as never })
    const delivered = await readUntil(reader, () => false, 15_000)
    expect(delivered).toMatchObject({ records: [], failure: { reason: 'authorization' } })
    const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 5000 })
    expect(judgeSurvey(survey, undefined)).toMatchObject({ kind: 'unproven', reason: 'authorization' })
    await log.close()
  })

  it('[KAF-7] a plain client on a listener that wants a login fails within the deadline', async () => {
    const log = openLog()
    const before = performance.now()
    await expect(log.openReader({ topic, positions, deadlineMs: 2500 })).rejects.toMatchObject({
      code: 'TM_KAFKA_UNREACHABLE',
    })
    expect(performance.now() - before).toBeLessThan(4000)
    const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 2000 })
    expect(judgeSurvey(survey, undefined)).toMatchObject({ kind: 'unproven' })
    await log.close()
  })
})
