import { dirtyCatalogue } from '@tidemark/checkpoint'
import type { ProjectedDataReader, ProjectionStatus } from '@tidemark/checkpoint'
import { afterEach, describe, expect, it } from 'vitest'
import type { FastifyInstance } from 'fastify'
import { createSessionMetrics } from '../src/service/session-metrics.ts'
import { createSessionServer } from '../src/service/session-server.ts'

const ready: ProjectionStatus = {
  state: 'ready',
  ready: true,
  topic: 'dispatch',
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

interface World {
  status: ProjectionStatus
  asked: string[]
  failures: unknown[]
}

function serve(world: World, readValues?: ProjectedDataReader['readValues']): FastifyInstance {
  const server = createSessionServer({
    status: () => world.status,
    data: {
      readValues:
        readValues ??
        (async (keys) => {
          world.asked.push(...keys)
          return keys.map((key) => (key === 'convs:ada' ? { kind: 'sorted-set', scores } : { kind: 'absent' }))
        }),
    },
    metrics: createSessionMetrics(() => world.status),
    onReadFailure: (error) => world.failures.push(error),
  })
  open.push(server)
  return server
}

function newWorld(status: ProjectionStatus): World {
  return { status, asked: [], failures: [] }
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
  })
})

describe('GET /metrics', () => {
  it('tells every partition, the state and the counters', async () => {
    const world = newWorld(ready)
    const server = serve(world)
    await server.inject('/metrics')
    const { body, headers } = await server.inject('/metrics')
    expect(headers['content-type']).toMatch(/^text\/plain/)
    const lines = body.split('\n').filter((line) => line.startsWith('session_projection_'))
    expect(lines).toEqual(
      expect.arrayContaining([
        'session_projection_next_offset{partition="0"} 12',
        'session_projection_low_offset{partition="0"} 2',
        'session_projection_target_offset{partition="0"} 10',
        'session_projection_last_stable_offset{partition="0"} 15',
        'session_projection_high_watermark{partition="0"} 18',
        'session_projection_behind_records{partition="0"} 3',
        'session_projection_headroom_records{partition="0"} 10',
        'session_projection_open_transaction_records{partition="0"} 3',
        'session_projection_queued_records{partition="0"} 1',
        'session_projection_quarantined_records{partition="0"} 2',
        'session_projection_caught_up{partition="0"} 1',
        'session_projection_stalled_seconds{partition="0"} 1.5',
        'session_projection_ready 1',
        'session_projection_state{state="ready"} 1',
        'session_projection_state{state="dirty"} 0',
        'session_projection_records_applied_total 7',
        'session_projection_steps_applied_total 3',
        'session_projection_steps_resent_total 1',
        'session_projection_identity_checks_total 9',
        'session_projection_quarantined_total 2',
      ]),
    )
    expect(lines.filter((line) => line.startsWith('session_projection_dirty'))).toEqual([])
    world.status = dirty
    const after = (await server.inject('/metrics')).body
    expect(after).toContain('session_projection_dirty{code="FENCED"} 1')
    expect(after).toContain('session_projection_ready 0')
  })
})
