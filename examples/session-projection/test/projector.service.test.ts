import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createKafkaClient } from '../src/backend/kafka-client.ts'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import { createTopic, deleteTopic } from '../src/backend/topic-admin.ts'
import { encodeDispatch } from '../src/dispatch-record.ts'
import { compareSessions } from '../src/proof/compare-sessions.ts'
import { createDispatchSource } from '../src/proof/dispatch-source.ts'
import { createLoggedSessions } from '../src/proof/logged-sessions.ts'
import { startProjectorProcess } from '../src/proof/projector-process.ts'
import type { ProjectorProcess } from '../src/proof/projector-process.ts'
import { readCommitted } from '../src/proof/read-committed.ts'
import { exitCodes } from '../src/service/exit-codes.ts'
import { dispatchMessage } from './bad-records.ts'
import { compilePrograms } from './compiled-programs.ts'
import type { CompiledPrograms } from './compiled-programs.ts'
import { runProgram } from './run-program.ts'
import { runInside } from './running-projector.ts'
import { createServiceWorld } from './service-world.ts'
import type { ServiceWorld } from './service-world.ts'
import { logArguments, storeArguments } from './test-settings.ts'

let programs: CompiledPrograms
const open: ServiceWorld[] = []
beforeAll(async () => {
  programs = await compilePrograms()
})
afterAll(() => programs.remove())
afterEach(async () => {
  await Promise.all(open.splice(0).map((world) => world.close()))
})

async function newWorld(options: Parameters<typeof createServiceWorld>[0] = {}): Promise<ServiceWorld> {
  const world = await createServiceWorld(options)
  open.push(world)
  return world
}

function start(world: ServiceWorld): ProjectorProcess {
  return startProjectorProcess({ script: programs.projector, args: world.args })
}

async function differences(world: ServiceWorld, alsoUsers: Iterable<string> = []) {
  const logged = createLoggedSessions()
  await readCommitted({ log: world.log, topic: world.settings.topic, deadlineMs: 60_000, visit: logged.take })
  const { lost, unexplained, sessions } = await compareSessions(logged.sessions, world.data, alsoUsers)
  return { lost, unexplained, sessions: sessions > 0 }
}

const same = { lost: [], unexplained: [], sessions: true }

describe('a writer on a real Kafka', () => {
  it('that is closed while it writes finishes what it was given, and takes nothing more', async () => {
    const world = await newWorld()
    for (const ending of ['commit', 'abort', 'commit'] as const) {
      const writer = await openDispatchWriter({ place: world.place, topic: world.settings.topic, deadlineMs: 60_000 })
      const written = Promise.allSettled([
        writer.write([dispatchMessage({ recipients: [`one-${ending}`] })], ending),
        writer.write([dispatchMessage({ recipients: [`two-${ending}`] })], ending),
      ])
      // The client would end this process here, were it told to disconnect now.
      await writer.close()
      expect((await written).map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled'])
      await expect(writer.write([dispatchMessage()], 'commit')).rejects.toThrow('the writer is closed')
    }
    const logged = createLoggedSessions()
    await readCommitted({ log: world.log, topic: world.settings.topic, deadlineMs: 60_000, visit: logged.take })
    expect([...logged.sessions.keys()].sort()).toEqual(['one-commit', 'two-commit'])
  }, 120_000)
})

describe('the projector as a process, on a real Kafka and Redis', () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('catches up, serves, follows the log, and drains on %s', async (signal) => {
    const world = await newWorld({ partitions: 3 })
    const source = createDispatchSource({ users: 40, startMs: 1_000, random: Math.random })
    for (let round = 0; round < 10; round += 1) {
      await world.write(source.next(50))
      await world.write(source.nextAborted(20), 'abort')
    }
    const projector = start(world)
    await projector.line('ready', ({ msg }) => msg.startsWith('ready:'), 90_000)
    const url = await projector.url(1_000)
    const status = (await (await fetch(`${url}/health/ready`)).json()) as { counters: { recordsApplied: number } }
    expect(status.counters.recordsApplied).toBe(500)
    expect((await fetch(`${url}/health/live`)).status).toBe(200)
    expect(await (await fetch(`${url}/metrics`)).text()).toMatch(
      /^tidemark_projection_records_applied_total\{.*\} 500$/m,
    )

    // A record written later is served without any restart.
    await world.write([dispatchMessage({ conversationId: 'late', recipients: ['latecomer'] })])
    const due = { user: 'latecomer', sessions: [{ conversationId: 'late', lastDispatchAt: 1_000 }] }
    await expect.poll(async () => (await fetch(`${url}/sessions/latecomer`)).json(), { timeout: 30_000 }).toEqual(due)

    projector.signal(signal)
    expect(await projector.exited).toEqual({ code: exitCodes.ok, signal: null })
    expect(projector.stderr()).toBe('')
    expect(projector.lines.map(({ msg }) => msg)).toEqual(expect.arrayContaining(['draining', 'stopped']))
    expect(await differences(world, source.abortedUsers)).toEqual(same)

    // The independent program agrees; told of another world it does not.
    const { log, store } = world.settings
    const places = Object.entries({ ...logArguments(log), ...storeArguments(store) }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ])
    const names = ['--topic', world.settings.topic, '--namespace', world.settings.namespace, '--data-prefix']
    const agreed = await runProgram(programs.recompute, [...places, ...names, world.settings.dataPrefix], {
      deadlineMs: 60_000,
    })
    expect([agreed.code, agreed.stderr]).toEqual([exitCodes.ok, ''])
    expect(agreed.stdout).toMatch(
      /^501 records, \d+ users, \d+ sessions stored, 0 undecodable, 0 lost, 0 unexplained\n$/,
    )
    const denied = await runProgram(programs.recompute, [...places, ...names, 'another:'], { deadlineMs: 60_000 })
    expect(denied.code).toBe(exitCodes.failed)
  })

  it('told to stop in the middle of a catch-up, it ends with 0 and goes on there at the next start', async () => {
    const world = await newWorld({ partitions: 2, batchRecordsMax: 5 })
    const source = createDispatchSource({ users: 40, startMs: 1_000, random: Math.random })
    for (let round = 0; round < 15; round += 1) await world.write(source.next(100))
    const first = start(world)
    await first.line('at its first step', ({ msg }) => msg === 'step', 90_000)
    first.signal('SIGTERM')
    expect(await first.exited).toEqual({ code: exitCodes.ok, signal: null })
    const second = start(world)
    await second.line('ready', ({ msg }) => msg.startsWith('ready:'), 90_000)
    second.signal('SIGTERM')
    expect(await second.exited).toEqual({ code: exitCodes.ok, signal: null })
    const applied = [first, second].map(({ lines }) =>
      lines.reduce((sum, { msg, records }) => sum + (msg === 'step' ? Number(records) : 0), 0),
    )
    // After an orderly stop nothing is applied twice.
    expect(applied[0]! + applied[1]!).toBe(1_500)
    expect(await differences(world)).toEqual(same)
  })
})

describe('the projector on a real Kafka and Redis', () => {
  it('answers 503 while a transaction that was open at its start holds records back, and serves them after the commit', async () => {
    const world = await newWorld()
    await world.write([dispatchMessage({ conversationId: 'committed' })])
    const client = createKafkaClient(world.place, 60_000)
    const producer = client.kafka.producer({ kafkaJS: { transactionalId: `open-${world.settings.topic}` } })
    await producer.connect()
    try {
      const transaction = await producer.transaction()
      const value = Buffer.from(
        encodeDispatch({ dispatchId: 'd', conversationId: 'open', createdAt: 9_000, recipients: ['ada'] }),
      )
      await transaction.send({ topic: world.settings.topic, messages: [{ key: 'open', value }] })

      const projector = await runInside(world.settings)
      const held = await projector.until(
        ({ partitions }) => partitions[0]?.next === partitions[0]?.lastStableOffset && partitions.length > 0,
      )
      expect(held).toMatchObject({ state: 'catching-up', ready: false })
      expect(held.partitions[0]).toMatchObject({ caughtUp: false, openTransaction: 1 })
      const answer = await projector.get('/sessions/ada')
      expect(answer).toMatchObject({
        status: 503,
        body: { error: expect.stringContaining('an open transaction') as string },
      })

      await transaction.commit()
      await projector.until(({ ready }) => ready)
      expect((await projector.get('/sessions/ada')).body).toMatchObject({
        sessions: [{ conversationId: 'open' }, { conversationId: 'committed' }],
      })
      expect(await projector.stop()).toBe(exitCodes.ok)
    } finally {
      await producer.disconnect()
    }
  })

  it('goes dirty when its topic is recreated while nothing is produced, answers 503 with the reason, and exits with 4 after the grace', async () => {
    const world = await newWorld({ dirtyGraceMs: 3_000 })
    await world.write([dispatchMessage()])
    const projector = await runInside(world.settings)
    await projector.until(({ ready }) => ready)
    await deleteTopic(world.place, world.settings.topic)
    await createTopic(world.place, world.settings.topic, 1)
    const status = await projector.until(({ state }) => state === 'dirty')
    const dirtyAt = performance.now()
    expect(status.ready).toBe(false)
    expect(status.dirty?.code).toMatch(/^(?:IDENTITY_MISMATCH|READ_FAILED|OUT_OF_RANGE|NEXT_ABOVE_HIGH)$/)
    expect((await projector.get('/sessions/ada')).status).toBe(503)
    expect((await projector.get('/health/live')).status).toBe(200)
    expect(await projector.exit).toBe(exitCodes.dirty)
    expect(performance.now() - dirtyAt).toBeGreaterThan(2_000)
    expect(projector.announced()).toMatch(/^dirty, /)

    const again = await runInside(world.settings)
    expect(await again.exit).toBe(exitCodes.refused)
    expect(again.announced()).toContain('TOPIC_ID')
    expect(await world.hash(`checkpoint:${world.settings.topic}:0`)).toMatchObject({
      next_offset: String(status.partitions[0]!.next),
    })
  })

  it('[A8] loses to a second projector of the same namespace, and serves nothing from then on', async () => {
    const world = await newWorld({ dirtyGraceMs: 60_000 })
    await world.write([dispatchMessage({ conversationId: 'first' })])
    const older = await runInside(world.settings)
    await older.until(({ ready }) => ready)
    const newer = await runInside(world.settings)
    await newer.until(({ ready }) => ready)
    await world.write([dispatchMessage({ conversationId: 'second', createdAt: 2_000 })])
    const lost = await older.until(({ state }) => state === 'dirty')
    expect(lost.dirty?.code).toMatch(/^(?:FENCED|STORE_CHANGED)$/)
    expect((await older.get('/sessions/ada')).status).toBe(503)
    const due = [
      { conversationId: 'second', lastDispatchAt: 2_000 },
      { conversationId: 'first', lastDispatchAt: 1_000 },
    ]
    await expect
      .poll(async () => (await newer.get('/sessions/ada')).body, { timeout: 30_000 })
      .toEqual({ user: 'ada', sessions: due })
    expect(await older.stop()).toBe(exitCodes.dirty)
    expect(await newer.stop()).toBe(exitCodes.ok)
    expect(await differences(world)).toEqual(same)
  })

  it('cannot be fooled into a taken port: it claims nothing', async () => {
    const world = await newWorld()
    await world.write([dispatchMessage()])
    const older = await runInside(world.settings)
    const ready = await older.until((status) => status.ready)
    const fence = await world.keys()
    const port = Number(new URL(older.url).port)
    const newer = start({ ...world, args: [...world.args, '--port', String(port)] })
    expect(await newer.exited).toEqual({ code: exitCodes.unavailable, signal: null })
    expect(newer.stderr()).toMatch(/^cannot listen on 127\.0\.0\.1:\d+: /)
    await sleep(1_500)
    expect(await world.keys()).toEqual(fence)
    expect(await older.until((status) => status.ready)).toMatchObject({ state: ready.state })
    expect(await older.stop()).toBe(exitCodes.ok)
  })
})
