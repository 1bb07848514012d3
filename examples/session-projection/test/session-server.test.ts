import { dirtyCatalogue } from '@tidemark/checkpoint'
import type { ProjectedDataReader, ProjectionStatus } from '@tidemark/checkpoint'
import { afterEach, describe, expect, it } from 'vitest'
import type { FastifyInstance } from 'fastify'
import { createSessionMetrics } from '../src/service/session-metrics.ts'
import { createSessionServer } from '../src/service/session-server.ts'
import type { StoreProfile } from '../src/service/store-profile.ts'

const ready: ProjectionStatus = {
  state: 'ready',
  ready: true,
  topic: 'dispatch',
  namespace: 'sessions',
  timeToReadyMs: 1_250,
  counters: {
    recordsApplied: 7,
    stepsApplied: 3,
    stepsResent: 1,
    conflicts: 0,
    identityChecks: 9,
    quarantinedHere: 2,
    observerFailures: 0,
  },
  partitions: [
    {
      partition: 0,
      next: '12',
      low: '2',
      target: '10',
      lastStableOffset: '15',
      highWatermark: '18',
      replayAtStart: 8,
      behind: 3,
      headroom: 10,
      openTransaction: 3,
      queued: 1,
      caughtUp: true,
      stalledMs: 1_500,
      quarantined: 2,
    },
  ],
}

const dirty: ProjectionStatus = {
  ...ready,
  state: 'dirty',
  ready: false,
  notReadyBecause: 'FENCED: partition 0 was claimed by another writer',
  dirty: {
    code: 'FENCED',
    message: 'partition 0 was claimed by another writer',
    values: {},
    remedy: dirtyCatalogue.FENCED,
    docsPath: 'docs/errors/dirty.md#fenced',
  },
}

const scores = new Map([
  ['old', 1],
  ['b-new', 9],
  ['a-new', 9],
])

const open: FastifyInstance[] = []
afterEach(async () => {
  await Promise.all(open.splice(0).map((server) => server.close()))
})

const profile: StoreProfile = { name: 'redis atomic', durability: 'fsync' }

interface World {
  status: ProjectionStatus
  store: StoreProfile | undefined
  asked: string[]
  failures: unknown[]
}

function serve(world: World, readValues?: ProjectedDataReader['readValues']): FastifyInstance {
  const server = createSessionServer({
    status: () => world.status,
    store: () => world.store,
    data: {
      readValues:
        readValues ??
        (async (keys) => {
          world.asked.push(...keys)
          return keys.map((key) => (key === 'convs:ada' ? { kind: 'sorted-set', scores } : { kind: 'absent' }))
        }),
    },
    metrics: createSessionMetrics(
      () => world.status,
      () => world.store,
    ),
    onReadFailure: (error) => world.failures.push(error),
  })
  open.push(server)
  return server
}

function newWorld(status: ProjectionStatus): World {
  return { status, store: undefined, asked: [], failures: [] }
}

describe('GET /sessions/:user', () => {
  it('serves the newest sessions first, equal times by id', async () => {
    const server = serve(newWorld(ready))
    const answer = await server.inject('/sessions/ada?limit=2')
    expect(answer.statusCode).toBe(200)
    expect(answer.json()).toEqual({
      user: 'ada',
      sessions: [
        { conversationId: 'a-new', lastDispatchAt: 9 },
        { conversationId: 'b-new', lastDispatchAt: 9 },
      ],
    })
  })

  it('serves an empty list for a user nobody wrote to', async () => {
    const answer = await serve(newWorld(ready)).inject('/sessions/nobody')
    expect([answer.statusCode, answer.json()]).toEqual([200, { user: 'nobody', sessions: [] }])
  })

  it.each(['a:b', '{a}', 'a\nb', '👩‍👧', 'a/b', '%', '__proto__'])('finds the key of the user %j', async (user) => {
    const world = newWorld(ready)
    const answer = await serve(world).inject(`/sessions/${encodeURIComponent(user)}`)
    expect([answer.statusCode, world.asked]).toEqual([200, [`convs:${user}`]])
  })

  it('answers 503 with the reason while not ready, without asking the store', async () => {
    const world = newWorld(dirty)
    const answer = await serve(world).inject('/sessions/ada')
    expect(answer.statusCode).toBe(503)
    expect(answer.json()).toEqual({ error: dirty.notReadyBecause, state: 'dirty' })
    expect(world.asked).toEqual([])
  })

  it('answers 503 when it stops being ready while the store is read', async () => {
    const world = newWorld(ready)
    const server = serve(world, async () => {
      world.status = dirty
      return [{ kind: 'sorted-set', scores }]
    })
    const answer = await server.inject('/sessions/ada')
    expect([answer.statusCode, answer.json()]).toEqual([503, { error: dirty.notReadyBecause, state: 'dirty' }])
  })

  it('answers 503 when the store fails or holds something else, and tells the operator only', async () => {
    const world = newWorld(ready)
    const failing = await serve(world, () => Promise.reject(new Error('address 10.0.0.7'))).inject('/sessions/ada')
    const foreign = await serve(world, async () => [{ kind: 'string', value: 'x' }]).inject('/sessions/ada')
    for (const answer of [failing, foreign]) {
      expect([answer.statusCode, answer.json()]).toEqual([
        503,
        { error: 'the session store did not answer', state: 'ready' },
      ])
    }
    expect(world.failures.map(String)).toEqual([
      'Error: address 10.0.0.7',
      'TypeError: a session key holds a string, not a sorted set',
    ])
  })

  it.each(['0', '-1', '1001', '1e2', '', '5&limit=6'])('answers 400 to the limit %j', async (limit) => {
    const answer = await serve(newWorld(ready)).inject(`/sessions/ada?limit=${limit}`)
    expect([answer.statusCode, answer.json()]).toEqual([400, { error: 'limit is not a whole number from 1 to 1000' }])
  })

  it('answers 400 to an empty user', async () => {
    expect((await serve(newWorld(ready)).inject('/sessions/')).statusCode).toBe(400)
  })
})

describe('the health endpoints', () => {
  it('are live in any state, and ready only when the projection is', async () => {
    const world = newWorld(ready)
    const server = serve(world)
    expect((await server.inject('/health/ready')).statusCode).toBe(200)
    expect((await server.inject('/health/ready')).json()).toEqual(ready)
    world.status = dirty
    const answer = await server.inject('/health/ready')
    expect([answer.statusCode, answer.json()]).toEqual([503, dirty])
    expect((await server.inject('/health/live')).statusCode).toBe(200)
    world.store = profile
    expect((await server.inject('/health/ready')).json()).toEqual({ ...dirty, store: profile })
  })
})

describe('GET /metrics', () => {
  it('tells every partition, the state and the counters by the names of the catalogue', async () => {
    const world = newWorld(ready)
    const server = serve(world)
    await server.inject('/metrics')
    const { body, headers } = await server.inject('/metrics')
    expect(headers['content-type']).toMatch(/^text\/plain/)
    const own = 'tidemark_topic="dispatch",tidemark_namespace="sessions"'
    const lines = body.split('\n').filter((line) => line.startsWith('tidemark_projection_'))
    const told = (name: string, label: string = ''): string | undefined => {
      const series = `tidemark_projection_${name}{${own}${label}} `
      return lines.find((line) => line.startsWith(series))?.slice(series.length)
    }
    const partition = ',tidemark_partition="0"'
    expect(
      Object.fromEntries(
        ['offset_next', 'offset_low', 'offset_target', 'offset_last_stable', 'offset_high_watermark'].map((name) => [
          name,
          told(name, partition),
        ]),
      ),
    ).toEqual({
      offset_next: '12',
      offset_low: '2',
      offset_target: '10',
      offset_last_stable: '15',
      offset_high_watermark: '18',
    })
    expect([told('lag', partition), told('headroom', partition), told('open_transaction', partition)]).toEqual([
      '3',
      '10',
      '3',
    ])
    expect([told('queued', partition), told('quarantine_stored', partition)]).toEqual(['1', '2'])
    expect([told('replay_at_start', partition), told('stalled_seconds', partition)]).toEqual(['8', '1.5'])
    expect([told('ready'), told('time_to_ready_seconds'), told('dirty')]).toEqual(['1', '1.25', undefined])
    expect(told('state', ',tidemark_state="ready"')).toBe('1')
    expect(told('state', ',tidemark_state="dirty"')).toBe('0')
    expect(told('partitions', ',tidemark_progress="caught-up"')).toBe('1')
    expect([told('records_applied_total'), told('records_quarantined_total')]).toEqual(['7', '2'])
    expect([told('steps_applied_total'), told('steps_resent_total')]).toEqual(['3', '1'])
    expect([told('identity_checks_total'), told('conflicts_total', ',tidemark_conflict_kind="conflict"')]).toEqual([
      '9',
      '0',
    ])
    expect(lines.filter((line) => line.startsWith('tidemark_projection_dirty'))).toEqual([])
    expect(body).not.toContain('session_store_info{')
    world.status = dirty
    world.store = profile
    const after = (await server.inject('/metrics')).body
    expect(after).toContain(`tidemark_projection_dirty{${own},tidemark_dirty_code="FENCED"} 1`)
    expect(after).toContain(`tidemark_projection_ready{${own}} 0`)
    expect(after).toContain('session_store_info{store="redis atomic",durability="fsync"} 1')
  })
})
