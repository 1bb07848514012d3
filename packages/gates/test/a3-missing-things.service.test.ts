import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import type { GateWorld } from '../src/gate-world.ts'
import { refusalCodes } from '../src/refusal-codes.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'
import type { Variant } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

async function projected(variant: Variant, partitions: number = 2): Promise<GateWorld> {
  const world = await open({ variant, partitions })
  await world.kafka.append(world.topic, 0, dispatches('c', 6, 'u'))
  await world.catchUp()
  return world
}

async function removeCheckpoints(world: GateWorld, ...partitions: readonly number[]): Promise<void> {
  for (const partition of partitions) await world.store.damage.removeCheckpoint(world.topic, partition)
}

describe.each(variantsOf('A3'))('[A3] the table of missing things, $name', (variant) => {
  it('[A3] nothing stored and low = 0: meta and all checkpoints appear at 0 together, byte for byte in format 1', async () => {
    const world = await open({ variant, partitions: 3 })
    const projection = world.projection()
    const outcome = await projection.start()
    await projection.caughtUp({ deadlineMs: 30_000 })
    await projection.stop()
    if (outcome.kind !== 'started') throw new Error('refused')
    const { clusterId, topicId } = outcome.plan.identity
    const meta = {
      format_version: '1',
      dispatch_topic: world.topic,
      partition_count: '3',
      cluster_id: clusterId,
      topic_id: topicId,
    }
    expect(await world.store.metaFields()).toEqual(meta)
    for (const partition of [0, 1, 2]) {
      const fields = { ...meta, partition: String(partition), next_offset: '0' }
      expect(await world.store.checkpointFields(partition)).toEqual(fields)
    }
  })

  it('[A3] [CK-06] nothing stored and low > 0: refused at once', async () => {
    const world = await open({ variant })
    await world.kafka.append(world.topic, 0, dispatches('c', 8, 'u'))
    await world.kafka.deleteRecordsBelow(world.topic, 0, 5)
    expect(await refusalCodes(world)).toEqual(['LOW_NOT_ZERO'])
  })

  it('[A3] [CK-19] meta and one of two checkpoints: refused where the history of the missing one is not complete', async () => {
    const world = await projected(variant)
    await removeCheckpoints(world, 0)
    await world.kafka.deleteRecordsBelow(world.topic, 0, 2)
    expect(await refusalCodes(world)).toEqual(['LOW_NOT_ZERO', 'MISSING_CHECKPOINT'])
  })

  it('[A3] checkpoints without meta: refused', async () => {
    const world = await projected(variant)
    await world.store.damage.removeMeta()
    expect(await refusalCodes(world)).toEqual(['CHECKPOINTS_WITHOUT_META'])
  })
})

const writing = (model: 'idempotent' | 'transactional'): readonly Variant[] =>
  variantsOf('A3').filter(({ store }) => store.writeModel === model)

describe.each(writing('idempotent'))('[A3] missing checkpoints of repeatable writes, $name', (variant) => {
  it('[A3] [CK-19] meta and one of two checkpoints: the missing one replays from 0 where its low is 0, reported', async () => {
    const world = await projected(variant)
    await removeCheckpoints(world, 0)
    const projection = world.projection()
    const outcome = await projection.start()
    expect(outcome.kind === 'started' && outcome.plan.notes.map((note) => note.code)).toEqual(['REPLAY_FROM_ZERO'])
    await projection.caughtUp({ deadlineMs: 30_000 })
    await projection.stop()
    expect(await world.store.checkpoint(0)).toBe('6')
  })

  it('[A3] meta alone, every checkpoint deleted: replays from 0 where every low is 0', async () => {
    const world = await projected(variant)
    await removeCheckpoints(world, 0, 1)
    await world.catchUp()
    expect(await world.store.checkpoint(0)).toBe('6')
  })

  it('[A3] meta and every checkpoint deleted, low = 0: a first start', async () => {
    const world = await projected(variant)
    await world.store.damage.removeMeta()
    await removeCheckpoints(world, 0, 1)
    await world.catchUp()
    expect(await world.store.checkpoint(0)).toBe('6')
  })
})

describe.each(writing('transactional'))(
  '[A3] missing checkpoints of writes that may not be repeated, $name',
  (variant) => {
    it('[A3] [CK-19] meta and one of two checkpoints: refused although the whole history is there', async () => {
      const world = await projected(variant)
      await removeCheckpoints(world, 0)
      expect(await refusalCodes(world)).toEqual(['MISSING_CHECKPOINT'])
      expect(await world.store.applied?.('u')).toBe(6)
    })

    it('[A3] meta alone, every checkpoint deleted: refused', async () => {
      const world = await projected(variant)
      await removeCheckpoints(world, 0, 1)
      expect(await refusalCodes(world)).toEqual(['MISSING_CHECKPOINT', 'MISSING_CHECKPOINT'])
    })

    it('[A3] meta and every checkpoint deleted while the data stand: no first start, nothing is created or counted again', async () => {
      const world = await projected(variant)
      await world.store.damage.removeMeta()
      await removeCheckpoints(world, 0, 1)
      const projection = world.projection()
      const outcome = await projection.start()
      await projection.stop()
      expect(outcome.kind === 'refused' && outcome.refusals.map((reason) => reason.code)).toEqual(['DATA_NOT_EMPTY'])
      expect([await world.store.metaFields(), await world.store.checkpoint(0)]).toEqual([{}, undefined])
      expect(await world.store.applied?.('u')).toBe(6)
    })
  },
)
