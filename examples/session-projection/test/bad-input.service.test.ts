import { afterEach, describe, expect, it } from 'vitest'
import { RECIPIENTS_MAX } from '../src/dispatch-record.ts'
import { compareSessions } from '../src/proof/compare-sessions.ts'
import { createLoggedSessions } from '../src/proof/logged-sessions.ts'
import { readCommitted } from '../src/proof/read-committed.ts'
import { exitCodes } from '../src/service/exit-codes.ts'
import { badRecords, dispatchMessage } from './bad-records.ts'
import { runInside } from './running-projector.ts'
import { createServiceWorld } from './service-world.ts'
import type { ServiceWorld } from './service-world.ts'

const open: ServiceWorld[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((world) => world.close()))
})

async function newWorld(options: Parameters<typeof createServiceWorld>[0]): Promise<ServiceWorld> {
  const world = await createServiceWorld(options)
  open.push(world)
  return world
}

async function compare(world: ServiceWorld) {
  const logged = createLoggedSessions()
  await readCommitted({ log: world.log, topic: world.settings.topic, deadlineMs: 60_000, visit: logged.take })
  return { logged, ...(await compareSessions(logged.sessions, world.data)) }
}

const strangeIds = ['a:b', '{a}:{b}', 'a\r\nb', '👩‍👩‍👧‍👦', '__proto__', ' ', 'convs:ada', '%', '*']

describe.each(['atomic', 'two-step'] as const)('records on a real Kafka and Redis, %s form', (form) => {
  it('are set aside durably, in the step that passes them, and counted; the good ones around them are served', async () => {
    const world = await newWorld({ form, undecodable: 'quarantine' })
    const bad = badRecords.map(([, value]) => ({ key: 'k', value, partition: 0 }))
    // Offset 0 is good, then bad and good take turns: bad records stand at 1, 3, 5, …
    const mixed = bad.flatMap((message, index) => [
      message,
      dispatchMessage({ conversationId: `good-${index}`, createdAt: index }),
    ])
    await world.write([dispatchMessage(), ...mixed])

    const projector = await runInside(world.settings)
    const status = await projector.until(({ ready }) => ready)
    expect(status.partitions[0]).toMatchObject({ quarantined: badRecords.length, caughtUp: true })
    expect(status.counters.quarantinedHere).toBe(badRecords.length)
    const served = await projector.get('/sessions/ada?limit=100')
    expect(served.status).toBe(200)
    expect((served.body as { sessions: unknown[] }).sessions).toHaveLength(1 + badRecords.length)
    expect(await projector.stop()).toBe(exitCodes.ok)

    const entries = await world.hash(`quarantine:${world.settings.topic}:0`)
    const reasons = Object.entries(entries).map(([offset, entry]) => [
      Number(offset),
      (JSON.parse(entry) as { reason: string }).reason,
    ])
    expect(reasons.sort(([a], [b]) => Number(a) - Number(b))).toEqual(
      badRecords.map(([, , reason], index) => [1 + 2 * index, reason]),
    )
    const compared = await compare(world)
    expect(compared).toMatchObject({ lost: [], unexplained: [], logged: { undecodable: badRecords.length } })

    // The count is the store's, so the next process knows it as well.
    const again = await runInside(world.settings)
    const later = await again.until(({ ready }) => ready)
    expect(later).toMatchObject({
      counters: { recordsApplied: 0, quarantinedHere: 0 },
      partitions: [{ quarantined: badRecords.length }],
    })
    expect(await again.stop()).toBe(exitCodes.ok)
  })

  it('with strange ids, doubled recipients and 10,000 of them are projected whole', async () => {
    const world = await newWorld({ form, undecodable: 'stop' })
    const crowd = Array.from({ length: RECIPIENTS_MAX }, (_, index) => `crowd-${index}`)
    await world.write([
      ...strangeIds.map((id, index) =>
        dispatchMessage({ dispatchId: id, conversationId: id, createdAt: index, recipients: [id, 'ada', id] }),
      ),
      dispatchMessage({ conversationId: 'crowd', createdAt: 7, recipients: crowd }),
      dispatchMessage({ conversationId: 'older', createdAt: 3 }),
      dispatchMessage({ conversationId: 'older', createdAt: 2 }),
    ])
    const projector = await runInside(world.settings)
    await projector.until(({ ready }) => ready)
    for (const id of strangeIds) {
      const served = await projector.get(`/sessions/${encodeURIComponent(id)}`)
      expect(served).toEqual({
        status: 200,
        body: { user: id, sessions: [{ conversationId: id, lastDispatchAt: strangeIds.indexOf(id) }] },
      })
    }
    const last = await projector.get(`/sessions/crowd-${RECIPIENTS_MAX - 1}`)
    expect(last.body).toMatchObject({ sessions: [{ conversationId: 'crowd', lastDispatchAt: 7 }] })
    expect(await projector.stop()).toBe(exitCodes.ok)
    const { sessions, lost, unexplained } = await compare(world)
    expect([lost, unexplained]).toEqual([[], []])
    expect(sessions).toBe(2 * strangeIds.length + RECIPIENTS_MAX + 1)
  })
})

describe('a damaged record under the policy stop', () => {
  it.each(badRecords)('ends the service at it, skipping nothing: %s', async (_what, value, reason) => {
    const world = await newWorld({ undecodable: 'stop', dirtyGraceMs: 60_000 })
    await world.write([
      dispatchMessage({ conversationId: 'before' }),
      { key: 'k', value, partition: 0 },
      dispatchMessage({ conversationId: 'after' }),
    ])
    const projector = await runInside(world.settings)
    const status = await projector.until(({ state }) => state === 'dirty')
    expect(status.dirty).toMatchObject({ code: 'UNDECODABLE', partition: 0, values: { offset: '1' } })
    expect(status.dirty?.message).toContain(reason)
    const refused = await projector.get('/sessions/ada')
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ state: 'dirty', error: expect.stringContaining(reason) as string })
    expect(await projector.stop()).toBe(exitCodes.dirty)
    expect(projector.announced()).toMatch(/^dirty, UNDECODABLE: record 1 of partition 0 .*\n {2}remedy: /)
    expect(await world.hash(`checkpoint:${world.settings.topic}:0`)).toMatchObject({ next_offset: '1' })
    expect(await world.hash(`quarantine:${world.settings.topic}:0`)).toEqual({})
    const [ada] = await world.data.readValues(['convs:ada'])
    expect(ada).toEqual({ kind: 'sorted-set', scores: new Map([['before', 1_000]]) })
  })

  it('ends the next start there too, until the operator chooses quarantine', async () => {
    const world = await newWorld({ undecodable: 'stop' })
    await world.write([{ key: 'k', value: null, partition: 0 }, dispatchMessage({ conversationId: 'after' })])
    for (let start = 0; start < 2; start += 1) {
      const projector = await runInside(world.settings)
      expect(await projector.exit).toBe(exitCodes.dirty)
      expect(await world.hash(`checkpoint:${world.settings.topic}:0`)).toMatchObject({ next_offset: '0' })
    }
    const projector = await runInside({ ...world.settings, undecodable: 'quarantine' })
    const status = await projector.until(({ ready }) => ready)
    expect(status.partitions[0]).toMatchObject({ quarantined: 1 })
    expect(await projector.stop()).toBe(exitCodes.ok)
    expect(await compare(world)).toMatchObject({ sessions: 1, lost: [], unexplained: [] })
  })
})
