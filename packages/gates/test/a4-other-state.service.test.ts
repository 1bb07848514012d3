import { describe, expect, it } from 'vitest'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import type { GateWorld } from '../src/gate-world.ts'
import { refusalCodes } from '../src/refusal-codes.ts'
import { rowsOn, variantsOf } from '../src/variants/gate-variants.ts'
import type { Variant } from '../src/variants/gate-variants.ts'

const open = gateWorlds()

async function projected(variant: Variant, partitions: number = 2): Promise<GateWorld> {
  const world = await open({ variant, partitions })
  await world.kafka.append(world.topic, 0, dispatches('c', 6, 'u'))
  await world.catchUp()
  return world
}

const wholeDamages: readonly (readonly [string, readonly string[], string, string])[] = [
  ['another cluster id (CK-09)', ['CLUSTER_ID'], 'cluster_id', 'other-cluster'],
  ['another topic id', ['TOPIC_ID'], 'topic_id', '12345678-1234-1234-1234-1234567890ab'],
  ['another topic name', ['TOPIC_NAME'], 'dispatch_topic', 'elsewhere'],
  ['another partition count', ['PARTITION_COUNT'], 'partition_count', '3'],
  ['a newer format', ['FORMAT_VERSION'], 'format_version', '2'],
  ['another format', ['FORMAT_VERSION'], 'format_version', '0'],
]

const fieldDamages: readonly (readonly [string, string, string, string])[] = [
  ['next_offset empty (CK-57)', 'UNPARSEABLE', 'next_offset', ''],
  ['next_offset with a leading zero', 'UNPARSEABLE', 'next_offset', '06'],
  ['next_offset in exponent form', 'UNPARSEABLE', 'next_offset', '6e0'],
  ['next_offset with trailing bytes', 'UNPARSEABLE', 'next_offset', '6 '],
  ['next_offset beyond int64', 'UNPARSEABLE', 'next_offset', '9223372036854775808'],
  ['the zero topic id', 'UNPARSEABLE', 'topic_id', '00000000-0000-0000-0000-000000000000'],
  ['a topic id in another spelling', 'UNPARSEABLE', 'topic_id', '7bzoge9/lr2doi1I/Wji9Q'],
  ['partition unlike the key', 'PARTITION_FIELD', 'partition', '1'],
  ['an unknown field', 'FIELD_UNKNOWN', 'leader_epoch', '3'],
  ['a cluster id unlike meta', 'CHECKPOINT_UNLIKE_META', 'cluster_id', 'other'],
]

const everyField = [
  'format_version',
  'dispatch_topic',
  'partition_count',
  'cluster_id',
  'topic_id',
  'partition',
  'next_offset',
]

describe.each(variantsOf('A4'))('[A4] positions, identities and formats that do not fit, $name', (variant) => {
  it('[A4] [CK-07] [CK-21] below low: refused with the gap, bytes unchanged, also at the second try', async () => {
    const world = await projected(variant, 1)
    await world.store.damage.setCheckpointField(world.topic, 0, 'next_offset', '3')
    await world.store.damage.setWitness(world.topic, 0, undefined)
    await world.kafka.append(world.topic, 0, dispatches('c', 3, 'u'))
    await world.kafka.deleteRecordsBelow(world.topic, 0, 6)
    expect(await refusalCodes(world)).toEqual(['NEXT_BELOW_LOW'])
    expect(await refusalCodes(world)).toEqual(['NEXT_BELOW_LOW'])
  })

  it('[A4] [CK-31] [CK-45] above high: refused, nothing swapped', async () => {
    const world = await projected(variant, 1)
    await world.store.damage.setCheckpointField(world.topic, 0, 'next_offset', '7')
    expect(await refusalCodes(world)).toEqual(['NEXT_ABOVE_HIGH'])
  })

  it.each(rowsOn(variant, wholeDamages))(
    '[A4] [CK-09] %s in meta and every checkpoint: refused, bytes unchanged',
    async (_, codes, field, text) => {
      const world = await projected(variant)
      await world.store.damage.setMetaField(field, text)
      for (const partition of [0, 1]) await world.store.damage.setCheckpointField(world.topic, partition, field, text)
      expect([...new Set(await refusalCodes(world))]).toEqual(codes)
    },
  )

  it.each(rowsOn(variant, fieldDamages))(
    '[A4] [CK-57] one checkpoint with %s: refused with %s, bytes unchanged',
    async (_, code, field, text) => {
      const world = await projected(variant)
      await world.store.damage.setCheckpointField(world.topic, 0, field, text)
      expect(await refusalCodes(world)).toEqual([code])
    },
  )

  it('[A4] every single missing field is refused by name, and several reasons come together', async () => {
    const world = await projected(variant)
    const { damage } = world.store
    const stored = await world.store.checkpointFields(0)
    for (const field of rowsOn(variant, everyField)) {
      await damage.setCheckpointField(world.topic, 0, field, undefined)
      expect(await refusalCodes(world)).toEqual(['FIELD_MISSING'])
      await damage.setCheckpointField(world.topic, 0, field, stored[field])
    }
    await damage.setCheckpointField(world.topic, 0, 'next_offset', '-1')
    await damage.setCheckpointField(world.topic, 1, 'next_offset', '99')
    expect(await refusalCodes(world)).toEqual(['UNPARSEABLE', 'NEXT_ABOVE_HIGH'])
  })

  it('[A4] [CK-23] a checkpoint outside the partitions: refused', async () => {
    const world = await projected(variant)
    await world.store.damage.setCheckpointField(world.topic, 7, 'partition', '7')
    expect(await refusalCodes(world)).toContain('EXTRA_CHECKPOINT')
  })

  it('[A4] [CK-05] [CK-18] partitions added since: refused', async () => {
    const world = await projected(variant)
    await world.kafka.addPartitions(world.topic, 3)
    // Where writes may not be repeated, the partition without a checkpoint is a reason of its own.
    const more = variant.store.writeModel === 'transactional' ? ['MISSING_CHECKPOINT'] : []
    expect(await refusalCodes(world)).toEqual(['PARTITION_COUNT', ...more])
  })

  it('[A4] a compacted topic: refused unless the projection declares that the latest record per key suffices', async () => {
    const world = await open({ variant, config: { 'cleanup.policy': 'compact' } })
    expect(await refusalCodes(world)).toEqual(['COMPACTED_TOPIC'])
    await world.catchUp({ declarations: { latestRecordPerKeySuffices: true } })
  })
})

const keyed = variantsOf('A4').filter(({ store }) => store.keyed)

describe.each(keyed)('[A4] keys of the store itself, $name', (variant) => {
  it('[A4] [CK-43] an expiring checkpoint: refused', async () => {
    const world = await projected(variant)
    await world.store.expireCheckpoint?.(1)
    expect(await refusalCodes(world)).toEqual(['KEY_EXPIRES'])
  })

  it('[A4] [CK-57] a checkpoint of another kind: refused', async () => {
    const world = await projected(variant)
    await world.store.damage.putWrongKind({ topic: world.topic, partition: 1 })
    expect(await refusalCodes(world)).toEqual(['UNPARSEABLE'])
  })
})
