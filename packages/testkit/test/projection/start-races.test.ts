import type { IdempotentWriter, ProjectionStore } from '@tidemark/checkpoint'
import { createMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import { offsetOf } from '@tidemark/core'
import { encodeWitness, witnessOf } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { createProjectionWorld, dispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

const checkpointKey = `p:checkpoint:${topicName}:0`

/** A world whose first three records were applied by a projection that was stopped; two more wait. */
async function usedWorld(): Promise<ProjectionWorld> {
  const world = createProjectionWorld({ partitions: 1 })
  const topic = world.log.cluster.topic(topicName)
  for (let n = 0; n < 3; n += 1) topic.append(0, dispatch('ann', n))
  const projection = world.projection()
  await projection.start()
  expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
  await projection.stop()
  for (let n = 3; n < 5; n += 1) topic.append(0, dispatch('ann', n))
  return world
}

function memoryStore(world: ProjectionWorld): ProjectionStore<IdempotentWriter> {
  return createMemoryProjectionStore({ namespace: 'p', server: world.server, nonce: () => world.chooser.hex(32) })
}

/** The store with something happening right before or right after the claim. */
function aroundClaim(
  world: ProjectionWorld,
  when: 'before' | 'after',
  happens: () => unknown,
): ProjectionStore<IdempotentWriter> {
  const store = memoryStore(world)
  return Object.assign(Object.create(store) as typeof store, {
    async claim(request: Parameters<typeof store.claim>[0]) {
      if (when === 'before') await happens()
      const claim = await store.claim(request)
      if (when === 'after') await happens()
      return claim
    },
  })
}

describe('what happens between the two readings of a start', () => {
  it('[CKP-13] [CKP-14] a position that an older writer moved before its fence was taken is where the start resumes', async () => {
    const world = await usedWorld()
    const store = aroundClaim(world, 'before', () => {
      world.server.setField(checkpointKey, 'next_offset', '4')
      const [last] = world.log.cluster.topic(topicName).partition(0).readCommitted(offsetOf(3), 1).records
      world.server.put(`p:witness:${topicName}:0`, { kind: 'string', value: encodeWitness(witnessOf(last!)) })
    })
    const projection = world.projection({ store })
    const started = await projection.start()
    expect(started.kind === 'started' && started.plan.partitions.map((each) => each.nextOffset)).toEqual([4n])
    await projection.stop()
  })

  it('[CKP-11] [CKP-14] the target is that of the bounds read after the claim', async () => {
    const world = await usedWorld()
    const asked = world.log.gate.count('readBounds')
    world.log.gate.before('readBounds', asked + 2, () => {
      world.log.cluster.topic(topicName).append(0, dispatch('ann', 5))
    })
    const projection = world.projection()
    const started = await projection.start()
    expect(started.kind === 'started' && started.plan.partitions.map((each) => each.target)).toEqual([6n])
    await projection.stop()
  })

  const changes: readonly (readonly [string, string, (world: ProjectionWorld) => unknown])[] = [
    [
      'another start takes the fence',
      'FENCED',
      (world) => memoryStore(world).claim({ topic: topicName, partitionCount: 1 }),
    ],
    ['the fence goes', 'FENCED', (world) => world.server.put(`p:fence:${topicName}:0`, { kind: 'absent' })],
    ['a position goes backwards', 'STATE_CHANGED', (world) => world.server.setField(checkpointKey, 'next_offset', '1')],
    ['a checkpoint goes', 'STATE_CHANGED', (world) => world.server.put(checkpointKey, { kind: 'absent' })],
    ['meta goes', 'STATE_CHANGED', (world) => world.server.put('p:meta', { kind: 'absent' })],
    ['the server is restarted', 'STATE_CHANGED', (world) => world.server.restart({ empty: false })],
    ['the server is emptied', 'STATE_CHANGED', (world) => world.server.restart({ empty: true })],
  ]
  it.each(changes)('[CKP-13] %s: refused as %s, and nothing but fences was written', async (_, code, change) => {
    const world = await usedWorld()
    let before: ReadonlyMap<string, unknown> = new Map()
    const store = aroundClaim(world, 'after', async () => {
      await change(world)
      before = world.server.snapshot()
    })
    const started = await world.projection({ store }).start()
    expect(started.kind === 'refused' && started.refusals.map((refusal) => refusal.code)).toContain(code)
    expect(world.server.snapshot()).toEqual(before)
  })
})
