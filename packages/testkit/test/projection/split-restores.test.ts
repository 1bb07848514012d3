import { describe, expect, it } from 'vitest'
import { dispatch, topicName } from './projection-world.ts'
import { checkSplitComplete, copyOf, createSplitWorld } from './split-world.ts'
import type { SplitWorld } from './split-world.ts'

const append = (world: SplitWorld, from: number, to: number): void => {
  for (let n = from; n < to; n += 1) world.log.cluster.topic(topicName).append(n % 2, dispatch(`user${n % 3}`, n))
}

async function runOnce(world: SplitWorld): Promise<void> {
  const projection = world.projection()
  expect((await projection.start()).kind).toBe('started')
  expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
  await projection.stop()
}

const codes = async (world: SplitWorld): Promise<readonly string[]> => {
  const projection = world.projection()
  const started = await projection.start()
  await projection.stop()
  return started.kind === 'refused' ? started.refusals.map(({ code, partition }) => `${code}@${partition}`) : []
}

describe('one of the two servers restored or emptied', () => {
  it.each(['data', 'checkpoints'] as const)(
    '[CKP-53] what makes the server of the %s unfit makes the whole unfit',
    async (side) => {
      const world = createSplitWorld(2)
      append(world, 0, 4)
      await runOnce(world)
      world[side].declare({
        isPrimary: false,
        isLoaded: false,
        durability: 'process',
        eviction: { policy: 'allkeys-lru', kind: 'any-key' },
        expiringKeys: ['p:meta'],
        database: { expected: '3', found: '0' },
      })
      const { facts } = await world.store().read({ topic: topicName, partitionCount: 2 })
      expect(facts).toMatchObject({ durability: 'process', isPrimary: false, isLoaded: false })
      const found = (await codes(world)).map((code) => code.replace(/@.*/, '')).sort()
      expect(found).toEqual(['EVICTION_POLICY', 'KEY_EXPIRES', 'STORE_DATABASE', 'STORE_LOADING', 'STORE_REPLICA'])
    },
  )

  it('[CKP-19] [CK-46] the data server emptied: refused with DATA_TWIN, nothing written on either side', async () => {
    const world = createSplitWorld(3)
    append(world, 0, 10)
    await runOnce(world)
    world.data.restart({ empty: true })
    const before = JSON.stringify([...world.checkpoints.snapshot()])
    expect(await codes(world)).toEqual(['DATA_TWIN@0', 'DATA_TWIN@1'])
    expect(JSON.stringify([...world.checkpoints.snapshot()])).toBe(before)
    expect(world.data.snapshot().size).toBe(0)
  })

  it('[CKP-50] data restored from an older copy: replayed from its own position, the checkpoint waits, sessions equal', async () => {
    const world = createSplitWorld(4)
    append(world, 0, 10)
    await runOnce(world)
    const copy = copyOf(world.data)
    append(world, 10, 30)
    await runOnce(world)
    copy.restore()
    expect([world.position('data', 0), world.position('checkpoint', 0)]).toEqual([5n, 15n])
    append(world, 30, 34)
    const projection = world.projection({ limits: { batchRecordsMax: 1, stallMsMax: 5_000 } })
    const seen: string[] = []
    const started = await projection.start()
    expect(started).toMatchObject({
      kind: 'started',
      plan: { notes: [{ code: 'DATA_APART' }, { code: 'DATA_APART' }] },
    })
    expect(projection.status().partitions[0]).toMatchObject({
      next: '5',
      target: '17',
      apart: { data: '5', checkpoint: '15' },
    })
    expect(projection.status().notReadyBecause).toContain('the data is at 5, the checkpoint at 15')
    while (projection.status().state === 'catching-up') {
      await projection.caughtUp({ deadlineMs: 1 })
      seen.push(`${world.position('data', 0)}/${world.position('checkpoint', 0)}`)
    }
    expect((await projection.caughtUp({ deadlineMs: 60_000 })).kind).toBe('ready')
    expect(projection.status().partitions[0]).not.toHaveProperty('apart')
    await projection.stop()
    // The checkpoint never moved while the data was behind it.
    for (const pair of seen) {
      const [data, checkpoint] = pair.split('/').map(Number) as [number, number]
      expect(checkpoint).toBe(Math.max(15, data))
    }
    checkSplitComplete(world)
  })

  it('[CKP-50] checkpoints restored from an older copy: what the data holds is not written again, sessions equal', async () => {
    const world = createSplitWorld(5)
    append(world, 0, 10)
    await runOnce(world)
    const copy = copyOf(world.checkpoints)
    append(world, 10, 30)
    await runOnce(world)
    copy.restore()
    append(world, 30, 33)
    await runOnce(world)
    checkSplitComplete(world)
  })

  it('[CKP-50] checkpoints lost entirely beside data that is there: first start from 0, sessions equal', async () => {
    const world = createSplitWorld(6)
    append(world, 0, 12)
    await runOnce(world)
    world.checkpoints.restart({ empty: true })
    await runOnce(world)
    checkSplitComplete(world)
  })

  it('[CKP-51] [A9] the data server emptied under a running projection: dirty within the lease, no lone checkpoint', async () => {
    for (const isBusy of [true, false]) {
      const world = createSplitWorld(7)
      append(world, 0, 10)
      const projection = world.projection()
      await projection.start()
      await projection.caughtUp({ deadlineMs: 60_000 })
      world.data.restart({ empty: true })
      if (isBusy) append(world, 10, 20)
      expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_CHANGED' } })
      expect(world.position('checkpoint', 0)).toBe(5n)
      expect(world.data.snapshot().size).toBe(0)
      await projection.stop()
    }
  })

  it('[CKP-51] either server restarted with everything kept: read again, adopted, and the projection goes on', async () => {
    for (const side of ['data', 'checkpoints'] as const) {
      const world = createSplitWorld(8)
      append(world, 0, 6)
      const projection = world.projection()
      await projection.start()
      await projection.caughtUp({ deadlineMs: 60_000 })
      world[side].restart({ empty: false })
      append(world, 6, 20)
      await expect.poll(() => world.position('checkpoint', 0), { timeout: 5_000 }).toBe(10n)
      expect(projection.status().state, side).toBe('ready')
      await projection.stop()
      checkSplitComplete(world)
    }
  })

  it('[CKP-52] [A8] an older writer is fenced on the server of the data too, before it writes anything there', async () => {
    const world = createSplitWorld(9)
    append(world, 0, 4)
    const older = world.projection()
    await older.start()
    await older.caughtUp({ deadlineMs: 60_000 })
    const newer = world.projection()
    await newer.start()
    const before = JSON.stringify([...world.data.snapshot()].filter(([key]) => key.startsWith('convs:')))
    expect(await older.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'FENCED' } })
    expect(JSON.stringify([...world.data.snapshot()].filter(([key]) => key.startsWith('convs:')))).toBe(before)
    await newer.stop()
    // A claim that reached only one of the servers is not one that anybody holds.
    const store = world.store()
    const { fences } = await store.claim({ topic: topicName, partitionCount: 2 })
    await world.store().claim({ topic: topicName, partitionCount: 2 })
    const seen = await store.read({ topic: topicName, partitionCount: 2 })
    expect(seen.fences.get(0)).not.toContain(fences.get(0)!.nonce)
  })
})
