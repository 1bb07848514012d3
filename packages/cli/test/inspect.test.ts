import { checkpointKey, metaKey, namespaceOf } from '@tidemark/checkpoint'
import { describe, expect, it } from 'vitest'
import type { InspectReport } from '@tidemark/cli'
import { createEmbeddedWorld, namespace, removeKey, setField, topic } from './embedded-world.ts'
import type { EmbeddedWorld } from './embedded-world.ts'
import { tidemark, tidemarkJson } from './recorded-host.ts'

const inspect = (world: EmbeddedWorld, ...more: readonly string[]): Promise<InspectReport> =>
  tidemarkJson<InspectReport>(['inspect', ...world.places.slice(0, 2), '-n', namespace, ...more])

const meta = metaKey(namespaceOf(namespace))
const checkpoint = checkpointKey(namespaceOf(namespace), topic, 1)

describe('inspect', () => {
  it('[CLI-3] shows a sound state decoded and raw, the topic as meta tells it', async () => {
    const world = await createEmbeddedWorld()
    const report = await inspect(world)
    expect(report).toMatchObject({
      version: 1,
      command: 'inspect',
      verdict: 'sound',
      exitCode: 0,
      topic,
      meta: { key: meta, raw: { format_version: '1', partition_count: '2' }, identity: { topic, partitionCount: 2 } },
      incarnation: { nonce: expect.stringMatching(/^[0-9a-f]{32}$/) },
      findings: { total: 0 },
    })
    expect(report.partitions.items[1]).toEqual({
      partition: 1,
      key: checkpoint,
      next: '5',
      fence: { epoch: '1', nonce: expect.stringMatching(/^[0-9a-f]{32}$/) },
      witness: { offset: '4', leaderEpoch: expect.any(Number), digest: expect.stringMatching(/^[0-9a-f]{64}$/) },
      quarantined: 0,
      raw: expect.objectContaining({ partition: '1', next_offset: '5' }),
      damaged: false,
    })
  })

  it.each(['fsync', 'server'] as const)(
    '[CLI-3] [EMB-19] tells that an embedded store is written under %s',
    async (durability) => {
      const world = await createEmbeddedWorld(4, durability)
      expect((await inspect(world)).store.durability).toBe(durability)
      const { stdout } = await tidemark(['explain', ...world.places, ...world.names, '--ready-target', 'hw'])
      expect(stdout).toContain(`durability ${durability}`)
    },
  )

  it('[CLI-3] lists the newest quarantined records, as many as asked for', async () => {
    const world = await createEmbeddedWorld()
    const bad = (partition: number) => ({ partition, key: null, value: new TextEncoder().encode('?') })
    await world.produce(async (producer) => {
      await producer.append(topic, [bad(0), bad(0), bad(0), bad(1)])
    })
    await world.project()
    const report = await inspect(world, '--quarantine', '2')
    expect(report.quarantined).toBe(4)
    expect(report.quarantine.items.map(({ partition, offset }) => `${partition}:${offset}`)).toEqual([
      '0:7',
      '0:6',
      '1:5',
    ])
    expect(report.quarantine.items[0]).toMatchObject({ reason: 'it is not a dispatch', valueBytes: 1 })
    await world.damage(setField(`${namespace}:quarantine:${topic}:0`, '9', '{"torn'))
    const [newest] = (await inspect(world)).quarantine.items
    expect(newest).toEqual({ partition: 0, offset: '9', damaged: '{"torn' })
  })

  it('[CLI-3] nothing under a namespace is a verdict of its own, with and without a topic', async () => {
    const world = await createEmbeddedWorld()
    const args = ['inspect', ...world.places.slice(0, 2), '-n', 'elsewhere']
    for (const more of [[], ['-t', topic]]) {
      const { stdout, exitCode } = await tidemark([...args, ...more])
      expect(exitCode).toBe(7)
      expect(stdout).toMatch(/^unknown namespace {2}nothing is stored under elsewhere\n/)
    }
  })

  /** What a refusal calls a field where it does not use the stored name. */
  const wordOf: Readonly<Record<string, string>> = {
    format_version: 'format version',
    dispatch_topic: 'topic',
    cluster_id: 'clusterId',
  }
  const damages = [
    ...['format_version', 'dispatch_topic', 'partition_count', 'cluster_id', 'topic_id'].map((field) => [meta, field]),
    ...['format_version', 'dispatch_topic', 'partition_count', 'cluster_id', 'topic_id'].map((field) => [
      checkpoint,
      field,
    ]),
    ...['partition', 'next_offset'].map((field) => [checkpoint, field]),
  ] as const
  it.each(damages)(
    '[CLI-1] [CLI-3] %s: a damaged %s is named, shown as it stands, and left alone',
    async (key, field) => {
      const world = await createEmbeddedWorld()
      const hostile = 'a\u001b]0;b\u0007\u202ec'.padEnd(500, '.')
      await world.damage(setField(key!, field!, hostile))
      const before = world.storeFiles()
      const report = await inspect(world, '-t', topic)
      expect(report).toMatchObject({ verdict: 'damaged', exitCode: 4 })
      const text = JSON.stringify(report.findings)
      expect(text).toContain(wordOf[field!] ?? field)
      expect(text.length).toBeLessThan(6_000)
      expect(text).not.toContain('\u202e')
      const raw = key === meta ? report.meta.raw : report.partitions.items[0]!.raw
      expect(raw![field!]).toMatch(/^a\\u001b\]0;b\\u0007\\u202ec\.+…\(\+340\)$/)
      const { stdout } = await tidemark(['inspect', ...world.places.slice(0, 2), '-n', namespace, '-t', topic])
      expect(stdout).not.toMatch(/[\u0007\u001b\u202e]/)
      expect(world.storeFiles()).toEqual(before)
    },
  )

  it('[CLI-3] a missing meta, a missing checkpoint, a stray one and damaged side keys are told', async () => {
    const world = await createEmbeddedWorld()
    await world.damage(removeKey(checkpoint))
    await world.damage(setField(`${namespace}:checkpoint:${topic}:9`, 'next_offset', '1'))
    await world.damage(async (storage) => {
      await storage.step(() => ({
        outcome: undefined,
        writes: [
          { op: 'set', key: `${namespace}:fence:${topic}:0`, value: 'no fence' },
          { op: 'set', key: `${namespace}:witness:${topic}:0`, value: '{"digest":1}' },
        ],
      }))
    })
    const report = await inspect(world)
    const rows = new Map(report.partitions.items.map((row) => [row.partition, row]))
    expect(rows.get(0)).toMatchObject({ fence: { damaged: 'no fence' }, witness: { damaged: '{"digest":1}' } })
    expect(rows.get(1)).not.toHaveProperty('next')
    expect(report.findings.items.map(({ code, partition }) => `${code}@${partition}`)).toContain('EXTRA_CHECKPOINT@9')
    await world.damage(removeKey(meta))
    expect(await inspect(world)).toMatchObject({ verdict: 'damaged', exitCode: 4 })
    const { stdout } = await tidemark(['inspect', ...world.places.slice(0, 2), '-n', namespace])
    expect(stdout).toContain('say it by --topic')
    const named = await inspect(world, '-t', topic)
    expect(named.findings.items.map(({ code }) => code)).toContain('CHECKPOINTS_WITHOUT_META')
  })

  it('[CLI-3] a key of another type is named and the rest is shown', async () => {
    const world = await createEmbeddedWorld()
    await world.damage(removeKey(checkpoint))
    await world.damage(async (storage) => {
      await storage.step(() => ({ outcome: undefined, writes: [{ op: 'set', key: checkpoint, value: '5' }] }))
    })
    const report = await inspect(world)
    expect(report).toMatchObject({ verdict: 'damaged', unreadable: { total: 1, items: [{ key: checkpoint }] } })
    expect(report.partitions.items.find(({ partition }) => partition === 0)).toMatchObject({ next: '5' })
  })

  it('[CLI-11] --raw shows the stored fields of everything, in their order', async () => {
    const world = await createEmbeddedWorld()
    const { stdout } = await tidemark(['inspect', ...world.places.slice(0, 2), '-n', namespace, '--raw'])
    expect(stdout).toContain(`\n${checkpoint}\n  format_version    1\n  dispatch_topic    dispatch\n`)
    expect(stdout.split('next_offset').length).toBe(3)
  })
})
