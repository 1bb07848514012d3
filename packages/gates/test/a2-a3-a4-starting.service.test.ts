import { describe, expect, it } from 'vitest'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { dispatch } from '../src/gate-world.ts'
import type { GateWorld } from '../src/gate-world.ts'

const open = gateWorlds()

async function catchUp(world: GateWorld): Promise<void> {
  const projection = world.projection()
  expect((await projection.start()).kind).toBe('started')
  expect(await projection.caughtUp({ deadlineMs: 30_000 })).toEqual({ kind: 'ready' })
  await projection.stop()
}

/** The codes of a refused start; the stored bytes must be exactly what they were. */
async function refusal(world: GateWorld): Promise<readonly string[]> {
  const before = await world.storedBytes()
  const projection = world.projection()
  const outcome = await projection.start()
  expect(await world.storedBytes()).toEqual(before)
  await projection.stop()
  return outcome.kind === 'refused' ? outcome.refusals.map((reason) => reason.code) : [outcome.kind]
}

const values = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => dispatch(`c${n}`, n, 'u'))

async function projected(partitions: number = 2): Promise<GateWorld> {
  const world = await open({ partitions })
  await world.kafka.append(world.topic, 0, values(6))
  await catchUp(world)
  return world
}

const checkpointKey = (world: GateWorld, partition: number): string =>
  `${world.namespace}:checkpoint:${world.topic}:${partition}`

describe('resuming', () => {
  it('[A2] resumes at next inside the log, and is ready at once at its end', async () => {
    const world = await projected()
    await world.kafka.append(world.topic, 0, [dispatch('later', 9, 'u')])
    const projection = world.projection()
    const outcome = await projection.start()
    expect(outcome.kind === 'started' && outcome.plan.partitions.map((p) => [p.nextOffset, p.target])).toEqual([
      [6n, 7n],
      [0n, 0n],
    ])
    await projection.caughtUp({ deadlineMs: 30_000 })
    expect(projection.status().counters.recordsApplied).toBe(1)
    await projection.stop()

    const atEnd = world.projection()
    await atEnd.start()
    expect((await atEnd.caughtUp({ deadlineMs: 5_000 })).kind).toBe('ready')
    expect(atEnd.status().counters.recordsApplied).toBe(0)
    await atEnd.stop()
  })

  it('[A2] [CK-30] a partition emptied by retention is resumed when its bounds meet at the checkpoint', async () => {
    const world = await projected(1)
    await world.kafka.deleteRecordsBelow(world.topic, 0, 6)
    await catchUp(world)
  })

  it('[A2] [CK-37] offsets committed to a consumer group of any name are neither read nor written', async () => {
    const world = await projected(1)
    await world.kafka.append(world.topic, 0, values(3))
    await catchUp(world)
    expect(await world.checkpoint(0)).toBe('9')
    expect(Object.keys(await world.sessions('u'))).toHaveLength(6)
  })
})

describe('the table of missing things', () => {
  it('[A3] nothing stored and low = 0: meta and all checkpoints appear at 0 together, byte for byte in format 1', async () => {
    const world = await open({ partitions: 3 })
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
    expect(await world.redis.hgetall(`${world.namespace}:meta`)).toEqual(meta)
    for (const partition of [0, 1, 2]) {
      const fields = { ...meta, partition: String(partition), next_offset: '0' }
      expect(await world.redis.hgetall(checkpointKey(world, partition))).toEqual(fields)
    }
  })

  it('[A3] [CK-06] nothing stored and low > 0: refused at once', async () => {
    const world = await open()
    await world.kafka.append(world.topic, 0, values(8))
    await world.kafka.deleteRecordsBelow(world.topic, 0, 5)
    expect(await refusal(world)).toEqual(['LOW_NOT_ZERO'])
  })

  it('[A3] [CK-19] meta and one of two checkpoints: the missing one replays from 0 where its low is 0, reported', async () => {
    const world = await projected()
    await world.redis.del(checkpointKey(world, 0))
    const projection = world.projection()
    const outcome = await projection.start()
    expect(outcome.kind === 'started' && outcome.plan.notes.map((note) => note.code)).toEqual(['REPLAY_FROM_ZERO'])
    await projection.caughtUp({ deadlineMs: 30_000 })
    await projection.stop()
    expect(await world.checkpoint(0)).toBe('6')
  })

  it('[A3] [CK-19] meta and one of two checkpoints: refused where the history of the missing one is not complete', async () => {
    const world = await projected()
    await world.redis.del(checkpointKey(world, 0))
    await world.kafka.deleteRecordsBelow(world.topic, 0, 2)
    expect(await refusal(world)).toEqual(['LOW_NOT_ZERO', 'MISSING_CHECKPOINT'])
  })

  it('[A3] meta alone, every checkpoint deleted: replays from 0 where every low is 0', async () => {
    const world = await projected()
    await world.redis.del(checkpointKey(world, 0), checkpointKey(world, 1))
    await catchUp(world)
    expect(await world.checkpoint(0)).toBe('6')
  })

  it('[A3] checkpoints without meta: refused', async () => {
    const world = await projected()
    await world.redis.del(`${world.namespace}:meta`)
    expect(await refusal(world)).toEqual(['CHECKPOINTS_WITHOUT_META'])
  })

  it('[A3] meta and every checkpoint deleted, low = 0: a first start', async () => {
    const world = await projected()
    await world.redis.del(`${world.namespace}:meta`, checkpointKey(world, 0), checkpointKey(world, 1))
    await catchUp(world)
    expect(await world.checkpoint(0)).toBe('6')
  })
})

describe('positions, identities and formats that do not fit', () => {
  it('[A4] [CK-07] below low: refused with the gap, bytes unchanged, also at the second try', async () => {
    const world = await projected(1)
    await world.redis.hset(checkpointKey(world, 0), 'next_offset', '3')
    await world.redis.del(`${world.namespace}:witness:${world.topic}:0`)
    await world.kafka.append(world.topic, 0, values(3))
    await world.kafka.deleteRecordsBelow(world.topic, 0, 6)
    expect(await refusal(world)).toEqual(['NEXT_BELOW_LOW'])
    expect(await refusal(world)).toEqual(['NEXT_BELOW_LOW'])
  })

  it('[A4] [CK-31] [CK-45] above high: refused, nothing swapped', async () => {
    const world = await projected(1)
    await world.redis.hset(checkpointKey(world, 0), 'next_offset', '7')
    expect(await refusal(world)).toEqual(['NEXT_ABOVE_HIGH'])
  })

  const damages: readonly (readonly [string, readonly string[], Readonly<Record<string, string>>])[] = [
    ['another cluster id (CK-09)', ['CLUSTER_ID'], { cluster_id: 'other-cluster' }],
    ['another topic id', ['TOPIC_ID'], { topic_id: '12345678-1234-1234-1234-1234567890ab' }],
    ['another topic name', ['TOPIC_NAME'], { dispatch_topic: 'elsewhere' }],
    ['another partition count', ['PARTITION_COUNT'], { partition_count: '3' }],
    ['a newer format', ['FORMAT_VERSION'], { format_version: '2' }],
    ['another format', ['FORMAT_VERSION'], { format_version: '0' }],
  ]
  it.each(damages)('[A4] [CK-09] %s in all stored hashes: refused, bytes unchanged', async (_, codes, fields) => {
    const world = await projected()
    const keys = [`${world.namespace}:meta`, checkpointKey(world, 0), checkpointKey(world, 1)]
    await Promise.all(keys.map((key) => world.redis.hset(key, fields)))
    expect([...new Set(await refusal(world))]).toEqual(codes)
  })

  const fieldDamages: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ['next_offset empty (CK-57)', 'UNPARSEABLE', { next_offset: '' }],
    ['next_offset with a leading zero', 'UNPARSEABLE', { next_offset: '06' }],
    ['next_offset in exponent form', 'UNPARSEABLE', { next_offset: '6e0' }],
    ['next_offset with trailing bytes', 'UNPARSEABLE', { next_offset: '6 ' }],
    ['next_offset beyond int64', 'UNPARSEABLE', { next_offset: '9223372036854775808' }],
    ['the zero topic id', 'UNPARSEABLE', { topic_id: '00000000-0000-0000-0000-000000000000' }],
    ['a topic id in another spelling', 'UNPARSEABLE', { topic_id: '7bzoge9/lr2doi1I/Wji9Q' }],
    ['partition unlike the key', 'PARTITION_FIELD', { partition: '1' }],
    ['an unknown field', 'FIELD_UNKNOWN', { leader_epoch: '3' }],
    ['a cluster id unlike meta', 'CHECKPOINT_UNLIKE_META', { cluster_id: 'other' }],
  ]
  it.each(fieldDamages)(
    '[A4] [CK-57] one checkpoint with %s: refused with %s, bytes unchanged',
    async (_, code, fields) => {
      const world = await projected()
      await world.redis.hset(checkpointKey(world, 0), fields)
      expect(await refusal(world)).toEqual([code])
    },
  )

  it('[A4] every single missing field is refused by name, and several reasons come together', async () => {
    const world = await projected()
    for (const field of [
      'format_version',
      'dispatch_topic',
      'partition_count',
      'cluster_id',
      'topic_id',
      'partition',
      'next_offset',
    ]) {
      const stored = await world.redis.hget(checkpointKey(world, 0), field)
      await world.redis.hdel(checkpointKey(world, 0), field)
      expect(await refusal(world)).toEqual(['FIELD_MISSING'])
      await world.redis.hset(checkpointKey(world, 0), field, stored!)
    }
    await world.redis.hset(checkpointKey(world, 0), 'next_offset', '-1')
    await world.redis.hset(checkpointKey(world, 1), 'next_offset', '99')
    expect(await refusal(world)).toEqual(['UNPARSEABLE', 'NEXT_ABOVE_HIGH'])
  })

  it('[A4] [CK-23] a checkpoint outside the partitions, and a key of another type', async () => {
    const world = await projected()
    await world.redis.del(checkpointKey(world, 1))
    await world.redis.set(checkpointKey(world, 1), 'not a hash')
    await world.redis.hset(checkpointKey(world, 7), 'partition', '7')
    const codes = await refusal(world)
    expect(codes).toContain('EXTRA_CHECKPOINT')
    expect(codes).toContain('UNPARSEABLE')
  })

  it('[A4] [CK-05] [CK-18] partitions added since: refused', async () => {
    const world = await projected()
    await world.kafka.addPartitions(world.topic, 3)
    expect(await refusal(world)).toEqual(['PARTITION_COUNT'])
  })

  it('[A4] [CK-43] an evicting Redis and an expiring checkpoint: refused', async () => {
    const world = await projected()
    await world.redis.expire(checkpointKey(world, 0), 3_600)
    const projection = world.projection()
    const outcome = await projection.start()
    expect(outcome.kind === 'refused' && outcome.refusals.map((reason) => reason.code)).toEqual(['KEY_EXPIRES'])
    await projection.stop()
  })

  it('[A4] a compacted topic: refused unless the projection declares that the latest record per key suffices', async () => {
    const world = await open({ config: { 'cleanup.policy': 'compact' } })
    expect(await refusal(world)).toEqual(['COMPACTED_TOPIC'])
    const projection = world.projection({ declarations: { latestRecordPerKeySuffices: true } })
    expect((await projection.start()).kind).toBe('started')
    await projection.stop()
  })
})
