import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { judgeSurvey } from '@tidemark/log'
import type { CommittedLog } from '@tidemark/log'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createPinnedKafkaLog } from '../../src/pinned/index.ts'
import type { PinnedKafkaLogOptions } from '../../src/pinned/index.ts'
import { createKafkaLog } from '../../src/index.ts'
import type { KafkaSasl, KafkaSecurity } from '../../src/index.ts'
import { appendAborted } from '../append-aborted.ts'
import { at, endsOf, offsetsOf, readUntil } from '../kafka-fixture.ts'
import { password, startGuardedCluster } from './guarded-cluster.ts'
import type { GuardedCluster } from './guarded-cluster.ts'
import { observeFetches } from './observed-fetches.ts'

let cluster: GuardedCluster

beforeAll(async () => {
  cluster = await startGuardedCluster()
})
afterAll(async () => {
  await cluster?.close()
})

const positions = [{ partition: 0, nextOffset: at(0) }]
const login = (mechanism: KafkaSasl['mechanism'], username: string, secret: string = password): KafkaSasl => ({
  mechanism,
  username,
  password: secret,
})

/** A log at one listener: `sasl` without TLS, `tls` with it, `plain` without either. */
type Listener = 'plain' | 'sasl' | 'tls'
type Trust = 'own' | 'other' | 'public'
const optionsOf = (listener: Listener, sasl?: KafkaSasl, trust?: Trust): PinnedKafkaLogOptions => {
  const ca = { own: cluster.ca, other: cluster.otherCa, public: undefined }
  const tls: KafkaSecurity['tls'] = trust === undefined || ca[trust] === undefined ? true : { ca: ca[trust] }
  const security = { ...(trust === undefined ? {} : { tls }), ...(sasl === undefined ? {} : { sasl }) }
  return { brokers: [cluster[listener]], security }
}

async function withLog<T>(options: PinnedKafkaLogOptions, use: (log: CommittedLog) => Promise<T>): Promise<T> {
  const log = createPinnedKafkaLog(options)
  try {
    return await use(log)
  } finally {
    await log.close()
  }
}

const thrownBy = (work: Promise<unknown>): Promise<Error & { readonly code?: string }> =>
  work.then(
    () => new Error('it succeeded'),
    (error: unknown) => error as Error,
  )

/** Everything a host could print of what it was told. */
const toldBy = (...told: readonly unknown[]): string =>
  told
    .map((one) =>
      one instanceof Error ? `${one.stack} ${JSON.stringify(one)} ${toldBy(one.cause)}` : JSON.stringify(one),
    )
    .join(' ')

describe('logging in', () => {
  it.each([
    ['PLAIN', 'sasl', 'reader', undefined],
    ['SCRAM-SHA-256', 'sasl', 'scram256', undefined],
    ['SCRAM-SHA-512', 'sasl', 'scram512', undefined],
    ['SCRAM-SHA-512', 'tls', 'scram512', 'own'],
  ] as const)(
    '[KAF-13] [KAF-28] with %s at the %s listener, without any permission on groups',
    async (mechanism, listener, user, trust) => {
      const { topic } = cluster
      await withLog(optionsOf(listener, login(mechanism, user), trust), async (log) => {
        const identity = judgeSurvey(await log.inspector.surveyIdentity(topic, { deadlineMs: 5_000 }), undefined)
        expect(identity).toMatchObject({ kind: 'proven', identity: { partitionCount: 1 } })
        expect(await log.inspector.readBounds(topic, 1, { deadlineMs: 5_000 })).toMatchObject({ kind: 'bounds' })
        expect(await log.inspector.readSettings(topic, { deadlineMs: 5_000 })).toMatchObject({ kind: 'settings' })
        const reader = await log.openReader({ topic, positions, deadlineMs: 5_000 })
        const delivered = await readUntil(reader, (so) => endsOf(so)[0] === 3)
        expect(delivered.failure).toBeUndefined()
        expect(offsetsOf(delivered)).toEqual([0, 1, 2])
        const back = await log.readBack({ topic, records: [{ partition: 0, offset: at(1) }], deadlineMs: 5_000 })
        expect(back).toMatchObject([{ kind: 'record', witness: { offset: 1n } }])
      })
    },
  )

  it.each([
    ['PLAIN with a wrong password', 'sasl', 'PLAIN', 'reader', undefined],
    ['SCRAM-SHA-256 with a wrong password', 'sasl', 'SCRAM-SHA-256', 'scram256', undefined],
    ['SCRAM-SHA-512 with a wrong password', 'sasl', 'SCRAM-SHA-512', 'scram512', undefined],
    ['SCRAM-SHA-512 with a wrong password, over TLS', 'tls', 'SCRAM-SHA-512', 'scram512', 'own'],
    ['SCRAM-SHA-512 as a user that is not there', 'sasl', 'SCRAM-SHA-512', 'nobody', undefined],
    ['a mechanism that the listener does not offer', 'tls', 'PLAIN', 'reader', 'own'],
  ] as const)(
    '[KAF-13] %s is told at once by code, without the password',
    async (_, listener, mechanism, user, trust) => {
      const { topic } = cluster
      const secret = 'wrong-but-secret'
      await withLog(optionsOf(listener, login(mechanism, user, secret), trust), async (log) => {
        const before = performance.now()
        const error = await thrownBy(log.openReader({ topic, positions, deadlineMs: 5_000 }))
        const spentMs = performance.now() - before
        expect(error).toMatchObject({ code: 'TM_KAFKA_AUTHENTICATION_FAILED' })
        expect(spentMs).toBeLessThan(4_000)
        const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 5_000 })
        expect(judgeSurvey(survey, undefined)).toMatchObject({ kind: 'unproven', reason: 'authorization' })
        const back = await thrownBy(
          log.readBack({ topic, records: [{ partition: 0, offset: at(1) }], deadlineMs: 5_000 }),
        )
        expect(back).toMatchObject({ code: 'TM_KAFKA_AUTHENTICATION_FAILED' })
        expect(toldBy(error, survey, back)).not.toContain(secret)
      })
    },
  )

  it('[KAF-8] [KAF-13] [KAF-20] a login that the broker wants renewed every two seconds is renewed, and reading goes on', async () => {
    const topic = await cluster.kafka.createTopic()
    const rule = { resourceType: 2, resourceName: topic, resourcePatternType: 3, host: '*', permissionType: 3 }
    const creations = [3, 8].map((operation) => ({ ...rule, principal: 'User:scram256', operation }))
    await cluster.admin.createAcls({ creations: creations as never })
    await withLog(optionsOf('sasl', login('SCRAM-SHA-256', 'scram256')), async (log) => {
      const reader = await log.openReader({ topic, positions, deadlineMs: 5_000 })
      const offsets: number[] = []
      for (let round = 1; round <= 10; round += 1) {
        await cluster.kafka.append(topic, 0, 5)
        const delivered = await readUntil(reader, (so) => endsOf(so)[0] === round * 5, 5_000)
        expect(delivered.failure).toBeUndefined()
        offsets.push(...offsetsOf(delivered))
        await new Promise((resolve) => setTimeout(resolve, 400))
      }
      expect(offsets).toEqual(Array.from({ length: 50 }, (_, offset) => offset))
    })
  })

  it('[KAF-8] [KAF-13] a login whose renewal is refused ends the reader, without the password', async () => {
    const { topic } = cluster
    await withLog(optionsOf('sasl', login('SCRAM-SHA-256', 'scram256')), async (log) => {
      const reader = await log.openReader({ topic, positions, deadlineMs: 5_000 })
      await readUntil(reader, (so) => endsOf(so)[0] === 3)
      await cluster.changePassword('another-password')
      const delivered = await readUntil(reader, () => false, 10_000)
      expect(delivered).toMatchObject({ records: [], failure: { reason: 'authorization' } })
      expect(toldBy(delivered.failure)).not.toContain(password)
      const error = await thrownBy(log.openReader({ topic, positions, deadlineMs: 5_000 }))
      expect(error).toMatchObject({ code: 'TM_KAFKA_AUTHENTICATION_FAILED' })
    })
    await cluster.changePassword(password)
  })
})

describe('permissions', () => {
  it('[KAF-28] a login without any on the topic is told by code at the opening and by a read-back', async () => {
    const { topic } = cluster
    await withLog(optionsOf('sasl', login('PLAIN', 'guest')), async (log) => {
      const records = [{ partition: 0, offset: at(1) }]
      for (const work of [
        () => log.openReader({ topic, positions, deadlineMs: 5_000 }),
        () => log.readBack({ topic, records, deadlineMs: 5_000 }),
      ]) {
        const before = performance.now()
        const error = await thrownBy(work())
        expect(error).toMatchObject({ code: 'TM_KAFKA_AUTHORIZATION_FAILED', details: { topic } })
        expect(performance.now() - before).toBeLessThan(4_000)
        expect(toldBy(error)).not.toContain(password)
      }
      const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 5_000 })
      expect(judgeSurvey(survey, undefined)).toMatchObject({ kind: 'unproven', reason: 'authorization' })
      expect(await log.inspector.readBounds(topic, 1, { deadlineMs: 5_000 })).toMatchObject({ kind: 'unreadable' })
    })
  })

  it('[KAF-23] Describe without Read ends the reader at its first fetch, and a read-back as unreadable', async () => {
    const { topic } = cluster
    await withLog(optionsOf('sasl', login('PLAIN', 'blind')), async (log) => {
      const reader = await log.openReader({ topic, positions, deadlineMs: 5_000 })
      const delivered = await readUntil(reader, () => false, 5_000)
      expect(delivered).toMatchObject({ records: [], failure: { reason: 'authorization' } })
      expect(delivered.failure?.message).toContain('no permission')
      const records = [{ partition: 0, offset: at(1) }]
      expect(await log.readBack({ topic, records, deadlineMs: 5_000 })).toMatchObject([
        { kind: 'unreadable', message: expect.stringContaining('no permission') },
      ])
    })
  })

  it('[KAF-24] a permission that is withdrawn ends a reader that idles, with nothing more delivered', async () => {
    const { topic, admin } = cluster
    await withLog(optionsOf('sasl', login('PLAIN', 'reader')), async (log) => {
      const reader = await log.openReader({ topic, positions, deadlineMs: 5_000 })
      await readUntil(reader, (so) => endsOf(so)[0] === 3)
      const resource = { resourceType: 2, resourceName: topic, resourcePatternType: 3 }
      const rule = { principal: 'User:reader', host: '*', operation: 1, permissionType: 3 }
      await admin.deleteAcls({ filters: [{ ...resource, ...rule }] as never })
      const delivered = await readUntil(reader, () => false, 10_000)
      expect(delivered).toMatchObject({ records: [], failure: { reason: 'authorization' } })
    })
  })
})

describe('talking past each other', () => {
  const cases = [
    ['another authority is trusted', 'tls', 'own', 'other', /certificate/i],
    ['the public authorities are trusted', 'tls', 'own', 'public', /certificate/i],
    ['a login without TLS at a TLS port', 'tls', 'own', undefined, /closed/i],
    ['neither login nor TLS at a TLS port', 'tls', undefined, undefined, /closed/i],
    ['TLS at a plain port', 'plain', undefined, 'own', /TLS handshake/],
    ['TLS at a port that wants a login', 'sasl', 'own', 'own', /TLS handshake/],
    ['no login at a port that wants one', 'sasl', undefined, undefined, /closed/i],
  ] as const
  const sasl = (given: 'own' | undefined) => (given === undefined ? undefined : login('SCRAM-SHA-512', 'scram512'))

  it.each(cases)(
    '[KAF-28] %s: told within the deadline, and the log closes at once',
    async (_, listener, given, trust, told) => {
      const { topic } = cluster
      const before = performance.now()
      const deadlineMs = 1_500
      const log = createPinnedKafkaLog(optionsOf(listener, sasl(given), trust))
      const error = await thrownBy(log.openReader({ topic, positions, deadlineMs }))
      const openedMs = performance.now() - before
      expect(error).toMatchObject({ code: 'TM_KAFKA_UNREACHABLE', message: expect.stringMatching(told) })
      expect(openedMs).toBeLessThan(deadlineMs + 1_000)
      expect(toldBy(error)).not.toContain(password)
      const closing = performance.now()
      await log.close()
      expect(performance.now() - closing).toBeLessThan(1_000)
    },
  )

  it('[KAF-28] [KAF-13] a process that met all of them ends by itself', async () => {
    const { topic } = cluster
    const ways = [
      { name: 'read', options: optionsOf('tls', login('SCRAM-SHA-512', 'scram512'), 'own') },
      { name: 'password', options: optionsOf('sasl', login('PLAIN', 'blind', 'wrong-but-secret')) },
      ...cases.map(([name, listener, given, trust]) => ({ name, options: optionsOf(listener, sasl(given), trust) })),
    ]
    const probe = join(import.meta.dirname, 'pinned-exit-probe.ts')
    const args = ['--import', 'tsx', '--conditions=@tidemark/source', probe, JSON.stringify({ topic, ways })]
    const child = spawn(process.execPath, args, { cwd: join(import.meta.dirname, '../../../..') })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += String(chunk)))
    // A process that does not end by itself is the fault looked for; it is ended here so that nothing stays behind.
    const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
    const code = await new Promise<number | null>((resolve) => child.on('exit', resolve))
    clearTimeout(timer)
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining('read: opened') })
    expect(output).toContain('password: TM_KAFKA_AUTHENTICATION_FAILED')
    expect(output.match(/: TM_KAFKA_UNREACHABLE/g)).toHaveLength(cases.length)
    expect(Number(/ended after (\d+) ms/.exec(output)?.[1])).toBeLessThan(1_000)
    expect(output).not.toMatch(/unhandled|secret|p4ss/)
  })
})

describe('a quota', () => {
  it('[KAF-10] [KAF-29] a long passed stretch is read back by both clients, though that takes longer than a deadline', async () => {
    const { kafka, admin, plain } = cluster
    const topic = await kafka.createTopic()
    const count = 9_000
    await kafka.append(topic, 0, 1)
    await appendAborted([plain], topic, count, 100)
    const readSlowly = async (name: string, create: (options: PinnedKafkaLogOptions) => CommittedLog) => {
      const clientName = `slow-${name}-${randomUUID()}`
      const entities = [{ entityType: 'client-id' as const, entityName: clientName }]
      const ops = [{ key: 'consumer_byte_rate' as const, value: 250_000, remove: false as const }]
      await admin.alterClientQuotas({ entries: [{ entities, ops }], validateOnly: false })
      const log = create({ brokers: [plain], clientName })
      // As a start asks: the last applied record, and everything passed behind it.
      const asked = [
        { partition: 0, offset: at(0) },
        { partition: 0, offset: at(1), before: at(count + 2) },
      ]
      const limits = { deadlineMs: 2_000, totalMsMax: 60_000 }
      const started = performance.now()
      const answers = await log.readBack({ topic, records: asked, ...limits })
      const spentMs = performance.now() - started
      await log.close()
      console.log(`${name}: ${count} aborted records read through under a quota in ${Math.round(spentMs)} ms`)
      expect(answers.map(({ offset, kind }) => `${offset} ${kind}`).sort()).toEqual(['0 record', '1 absent'])
      expect(spentMs).toBeGreaterThan(limits.deadlineMs)
    }
    await Promise.all([readSlowly('official', createKafkaLog), readSlowly('pinned', createPinnedKafkaLog)])
  })

  it('[KAF-20] [KAF-26] throttling is waited out: no fetch meanwhile, every record in order, no failure', async () => {
    const { kafka, admin, plain } = cluster
    const clientName = `quota-${randomUUID()}`
    const entities = [{ entityType: 'client-id' as const, entityName: clientName }]
    const ops = [{ key: 'consumer_byte_rate' as const, value: 300_000, remove: false as const }]
    await admin.alterClientQuotas({ entries: [{ entities, ops }], validateOnly: false })
    const topic = await kafka.createTopic(2)
    const count = 600
    for (const partition of [0, 1]) await kafka.append(topic, partition, count, 'x'.repeat(1_000))
    const observed = observeFetches()
    // Shorter than the broker lets the reader wait: throttling must not be taken for not being served.
    const fetch = { unavailableMsMax: 300, partitionBytesMax: 131_072 }
    const started = performance.now()
    await withLog({ brokers: [plain], clientName, fetch }, async (log) => {
      const both = [0, 1].map((partition) => ({ partition, nextOffset: at(0) }))
      const reader = await log.openReader({ topic, positions: both, deadlineMs: 5_000 })
      const delivered = await readUntil(reader, (so) => [0, 1].every((p) => endsOf(so)[p] === count), 30_000)
      expect(delivered.failure).toBeUndefined()
      for (const partition of [0, 1]) {
        expect(offsetsOf(delivered, partition)).toEqual(Array.from({ length: count }, (_, offset) => offset))
      }
    })
    observed.end()
    const spentMs = performance.now() - started
    const { fetches } = observed
    const throttled = fetches.filter(({ throttleMs }) => throttleMs > 0)
    const meanwhile = throttled.map(
      (one) =>
        fetches.filter(({ sentMs }) => sentMs > one.sentMs && sentMs < one.answeredMs + one.throttleMs - 5).length,
    )
    const throttledMs = throttled.reduce((sum, { throttleMs }) => sum + throttleMs, 0)
    console.log(
      `${fetches.length} fetches in ${Math.round(spentMs)} ms, ${throttled.length} of them throttled, for ${throttledMs} ms together`,
    )
    expect(throttledMs).toBeGreaterThan(1_000)
    expect(meanwhile.every((sent) => sent === 0)).toBe(true)
    expect(spentMs).toBeLessThan(20_000)
  })
})
