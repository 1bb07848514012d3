import { explainRebuild, explainStart, inspectNamespace, rebuild, verifyProjection } from '@tidemark/checkpoint'
import type { ProjectionStore, RebuildVerdict } from '@tidemark/checkpoint'
import {
  createMemoryDataReader,
  createMemoryProjectionStore,
  createTransactionalMemoryProjectionStore,
} from '@tidemark/checkpoint/memory'
import { describe, expect, it } from 'vitest'
import { createProjectionWorld, dispatch, projectDispatch, topicName } from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

const open = (world: ProjectionWorld, namespace: string = 'p', dataPrefix: string = '') =>
  createMemoryProjectionStore({ namespace, dataPrefix, server: world.server, nonce: () => world.chooser.hex(32) })

async function projected(records: number = 20): Promise<ProjectionWorld> {
  const world = createProjectionWorld()
  const topic = world.log.cluster.topic(topicName)
  for (let n = 0; n < records; n += 1) topic.append(n % 2, dispatch(`u${n % 7}`, n))
  const projection = world.projection()
  await projection.start()
  await projection.caughtUp()
  await projection.stop()
  return world
}

const asked = (world: ProjectionWorld) => ({
  topic: topicName,
  log: world.log.openLog(),
  store: open(world),
  readyTarget: 'hw' as const,
  inspectMsMax: 1_000,
})

/** Everything that may stand between a projection and its start, by what an operator sees. */
const situations: readonly (readonly [string, (world: ProjectionWorld) => void])[] = [
  ['sound state', () => undefined],
  ['a recreated topic', (world) => void world.log.cluster.recreateTopic(topicName)],
  ['retention past the position', (world) => world.log.cluster.topic(topicName).append(0, dispatch('x', 1))],
  ['a damaged field', (world) => world.server.setField(`p:checkpoint:${topicName}:1`, 'next_offset', '007')],
  ['a missing checkpoint', (world) => world.server.put(`p:checkpoint:${topicName}:0`, { kind: 'absent' })],
  ['a grown topic', (world) => world.log.cluster.topic(topicName).grow(3)],
]

describe('explaining a start', () => {
  it.each(situations)('[CKP-48] decides like the start and changes nothing: %s', async (_name, change) => {
    const world = await projected()
    change(world)
    const before = world.server.snapshot()
    const { verdict, observed } = await explainStart(asked(world))
    expect(world.server.snapshot()).toEqual(before)
    expect(observed.stored.checkpoints.size).toBeGreaterThan(0)
    const projection = world.projection()
    expect(await projection.explain()).toEqual(verdict)
    const started = await projection.start()
    await projection.stop()
    if (verdict.kind === 'refused') expect(started).toEqual(verdict)
    else expect(started).toMatchObject({ kind: 'started', plan: { partitions: verdict.partitions } })
  })

  it('[CKP-48] a first start on a transactional store asks what a look does not, and the look says so', async () => {
    const world = await projected()
    const transactional = (namespace: string) =>
      createTransactionalMemoryProjectionStore({
        namespace,
        server: world.server,
        nonce: () => world.chooser.hex(32),
        isEmpty: () => false,
      })
    const openOf = async (store: ProjectionStore<never>) => {
      const { verdict, leftOpen } = await explainStart({ ...asked(world), store })
      return [verdict.kind, ...leftOpen.map(({ code }) => code)]
    }
    expect(await openOf(transactional('fresh') as never)).toEqual(['start', 'DATA_NOT_EMPTY'])
    expect(await openOf(transactional('p') as never)).toEqual(['start'])
    expect(await openOf(open(world, 'fresh') as never)).toEqual(['start'])
    const look = await explainRebuild({
      projection: { ...asked(world), store: transactional('fresh') },
      old: { namespace: open(world).namespace, dataPrefix: 'old:' },
      data: { kind: 'new-prefix' },
    })
    expect(look).toMatchObject({ kind: 'would-start', leftOpen: [{ code: 'DATA_NOT_EMPTY' }] })
    // Where it can be asked, the start finds what was left open.
    const started = await world.projection({ store: transactional('fresh') as never }).start()
    expect(started).toMatchObject({ kind: 'refused', refusals: [{ code: 'DATA_NOT_EMPTY' }] })
    world.log.cluster.recreateTopic(topicName)
    expect(await openOf(transactional('p') as never)).toEqual(['refused'])
  })

  it('[CKP-48] options that make no sense are refused before anything is asked', async () => {
    const world = await projected()
    const fine = asked(world)
    const bad = [
      [{ readyTarget: 'now' as never }, 'TM_CHECKPOINT_OPTION_INVALID'],
      [{ topic: 'a b' }, 'TM_CHECKPOINT_TOPIC_INVALID'],
      [{ inspectMsMax: Number.NaN }, 'TM_CORE_LIMIT_INVALID'],
    ] as const
    for (const [change, code] of bad) await expect(explainStart({ ...fine, ...change })).rejects.toMatchObject({ code })
  })
})

describe('inspecting a namespace', () => {
  const inspect = (world: ProjectionWorld, namespace: string = 'p', topic?: string) =>
    inspectNamespace({ store: open(world, namespace), ...(topic === undefined ? {} : { topic }) })

  it('[CKP-49] tells a sound state, the topic taken from meta', async () => {
    const inspection = await inspect(await projected())
    expect(inspection).toMatchObject({ kind: 'found', topic: topicName, damage: [], store: [] })
    if (inspection.kind !== 'found') return
    expect([...inspection.review.checkpoints.values()].map(({ nextOffset }) => nextOffset)).toEqual([10n, 10n])
    expect(inspection.review.witnesses.size).toBe(2)
  })

  it('[CKP-49] a namespace that holds nothing is unknown, with and without a topic', async () => {
    const world = await projected()
    expect((await inspect(world, 'elsewhere')).kind).toBe('unknown')
    expect((await inspect(world, 'elsewhere', topicName)).kind).toBe('unknown')
  })

  it('[CKP-49] every damaged field is named, also where meta itself is damaged', async () => {
    const world = await projected()
    world.server.setField('p:meta', 'partition_count', '-1')
    world.server.setField(`p:checkpoint:${topicName}:0`, 'next_offset', '1.5')
    world.server.setField(`p:checkpoint:${topicName}:1`, 'surprise', 'x')
    const inspection = await inspect(world)
    expect(inspection).toMatchObject({ kind: 'found', topic: topicName })
    if (inspection.kind !== 'found') return
    expect(inspection.damage.map(({ code, values }) => [code, values['field']])).toEqual([
      ['UNPARSEABLE', 'partition_count'],
      ['UNPARSEABLE', 'next_offset'],
      ['FIELD_UNKNOWN', 'surprise'],
    ])
  })

  it('[CKP-49] without a meta that names it, the topic must be said', async () => {
    const world = await projected()
    world.server.put('p:meta', { kind: 'absent' })
    expect((await inspect(world)).kind).toBe('topic-unknown')
    const named = await inspect(world, 'p', topicName)
    expect(named.kind === 'found' && named.damage.map(({ code }) => code)).toEqual(['CHECKPOINTS_WITHOUT_META'])
  })

  it('[CKP-49] a checkpoint that meta allows for and that is gone is damage, one of another topic is not asked for', async () => {
    const world = await projected()
    world.server.put(`p:checkpoint:${topicName}:1`, { kind: 'absent' })
    const lost = await inspect(world)
    expect(lost.kind === 'found' && lost.damage.map(({ code, partition }) => `${code}@${partition}`)).toEqual([
      'MISSING_CHECKPOINT@1',
    ])
    const other = await inspect(world, 'p', 'other')
    expect(other.kind === 'found' && other.damage.map(({ code }) => code)).toEqual(['TOPIC_NAME'])
  })

  it.each([
    ['of no partition', [], ['DATA_TWIN@0', 'DATA_TWIN@1']],
    ['of one of two', [[0, '10']], ['DATA_TWIN@1']],
    ['of one of two, of another log', [[0, 'of another log']], ['DATA_TWIN@0', 'DATA_TWIN@1']],
    [
      'of both',
      [
        [0, '10'],
        [1, '7'],
      ],
      [],
    ],
  ] as const)('[CKP-49] data apart from its checkpoints that tells a position %s', async (_name, twins, found) => {
    const world = await projected()
    const store = open(world)
    const apart: Parameters<typeof inspectNamespace>[0]['store'] = {
      namespace: store.namespace,
      read: async (request) => ({ ...(await store.read(request)), witnesses: new Map(), twins: new Map(twins) }),
    }
    const inspection = await inspectNamespace({ store: apart })
    const damage = inspection.kind === 'found' ? inspection.damage : []
    expect(damage.map(({ code, partition }) => `${code}@${partition}`)).toEqual(found)
    // A start says the same, in the same words.
    const { verdict } = await explainStart({ ...asked(world), store: { ...apart, writeModel: 'transactional' } })
    expect(verdict.kind === 'refused' ? verdict.refusals : []).toEqual(damage)
  })

  it('[CKP-49] another topic than meta has, and a checkpoint beyond its partitions, are found', async () => {
    const world = await projected()
    const other = await inspect(world, 'p', 'other')
    expect(other.kind === 'found' && other.damage.map(({ code }) => code)).toContain('TOPIC_NAME')
    const stray = `p:checkpoint:${topicName}:5`
    world.server.put(stray, world.server.snapshot().get(`p:checkpoint:${topicName}:0`)!)
    world.server.setField(stray, 'partition', '5')
    const beyond = await inspect(world)
    expect(beyond.kind === 'found' && beyond.damage.map(({ code, partition }) => `${code}@${partition}`)).toEqual([
      'EXTRA_CHECKPOINT@5',
    ])
  })
})

describe('explaining a rebuild', () => {
  const into = (world: ProjectionWorld, store: ProjectionStore<never>) => ({ ...asked(world), store })
  const explain = (world: ProjectionWorld, namespace: string, dataPrefix: string): Promise<RebuildVerdict> =>
    explainRebuild({
      projection: into(world, open(world, namespace, dataPrefix) as never),
      old: open(world),
      data: { kind: 'new-prefix' },
    })
  const words = (verdict: RebuildVerdict): readonly string[] =>
    verdict.kind === 'refused' ? verdict.problems.map(({ code }) => code) : [verdict.kind]

  it.each([
    ['p2', 'v2:', ['would-start']],
    ['p', 'v2:', ['SAME_NAMESPACE', 'NAMESPACE_NOT_EMPTY']],
    ['p2', '', ['SAME_DATA_PREFIX']],
  ] as const)(
    '[CKP-80] into %s with prefix "%s": %s, as the rebuild itself says',
    async (namespace, prefix, expected) => {
      const world = await projected()
      const before = world.server.snapshot()
      const verdict = await explain(world, namespace, prefix)
      expect(words(verdict)).toEqual(expected)
      expect(world.server.snapshot()).toEqual(before)
      const outcome = await rebuild({
        projection: {
          ...asked(world),
          log: world.log.openLog(),
          store: open(world, namespace, prefix),
          project: projectDispatch,
          undecodable: 'stop',
          leaseMs: 1_000,
          limits: { batchRecordsMax: 10, stallMsMax: 5_000 },
          clock: world.log.clock,
        },
        old: open(world),
        data: { kind: 'new-prefix' },
      })
      if (outcome.kind === 'started') await outcome.projection.stop()
      expect(outcome.kind === 'started' ? ['would-start'] : outcome).toEqual(
        verdict.kind === 'would-start' ? ['would-start'] : verdict,
      )
    },
  )

  it('[CKP-80] an incomplete history is refused by the planner, and what was handed over stays open', async () => {
    const world = await projected()
    world.log.cluster.topic(topicName).deleteRecordsBefore(0, 2)
    const store = open(world, 'p2', 'v2:')
    const projection = into(world, store as never)
    const verdict = await explainRebuild({ projection, old: open(world), data: { kind: 'new-prefix' } })
    expect(verdict).toMatchObject({ kind: 'start-refused', start: { refusals: [{ code: 'LOW_NOT_ZERO' }] } })
    expect((await store.read({ topic: topicName, partitionCount: 2 })).checkpoints.size).toBe(0)
  })
})

describe('ending a verification early', () => {
  it.each([1, 2])('[CKP-44] at answer %i of the log: the reader is closed and nothing is reported', async (poll) => {
    const world = await projected(200)
    const controller = new AbortController()
    // The log answers without records, so that the verification is under way however large its fetches are.
    world.log.reading.frozen = true
    world.log.gate.before('poll', world.log.gate.count('poll') + poll, () => controller.abort())
    const verifying = verifyProjection({
      topic: topicName,
      log: world.log.openLog(),
      store: open(world),
      project: projectDispatch,
      data: createMemoryDataReader(world.server),
      clock: world.log.clock,
      limits: { keysMax: 1_000, inspectMsMax: 1_000, stallMsMax: 5_000, differencesMax: 10 },
      signal: controller.signal,
    })
    await expect(verifying).rejects.toMatchObject({ code: 'TM_CORE_CANCELLED' })
  })

  it('[CKP-44] before it begins', async () => {
    const world = await projected()
    const controller = new AbortController()
    controller.abort()
    const options = { ...asked(world), project: projectDispatch, data: createMemoryDataReader(world.server) }
    const limits = { keysMax: 1_000, inspectMsMax: 1_000, stallMsMax: 5_000, differencesMax: 10 }
    const verifying = verifyProjection({ ...options, clock: world.log.clock, limits, signal: controller.signal })
    await expect(verifying).rejects.toMatchObject({ code: 'TM_CORE_CANCELLED' })
  })
})

describe('a deep look before a start', () => {
  const scanning = (world: ProjectionWorld, more: readonly string[] = []) => ({
    async *scanKeys() {
      yield [...world.server.snapshot().keys()].filter((key) => key.startsWith('p:'))
      yield more
    },
  })

  it('[CKP-48] knows every key that a projection writes', async () => {
    const world = await projected()
    const { verdict, strays } = await explainStart({ ...asked(world), deep: scanning(world) })
    expect(verdict.kind).toBe('start')
    expect(strays).toMatchObject({ strays: [], strayCount: 0, checkpointsBeyond: [] })
    expect(strays!.keysSeen).toBeGreaterThanOrEqual(8)
  })

  it('[CKP-48] [CK-23] refuses a checkpoint that nothing else finds, and lists other strays without refusing', async () => {
    const world = await projected()
    const others = [`p:fence:${topicName}:7`, 'p:checkpoint:other:0', 'p:nested:meta', `p:checkpoint:${topicName}:01`]
    const listed = await explainStart({ ...asked(world), deep: scanning(world, others) })
    expect(listed.strays).toMatchObject({ strays: others, strayCount: 4, checkpointsBeyond: [] })
    expect(listed.verdict.kind).toBe('start')
    const far = [`p:checkpoint:${topicName}:70000`]
    const { verdict } = await explainStart({ ...asked(world), deep: scanning(world, far) })
    expect(verdict).toMatchObject({ kind: 'refused', refusals: [{ code: 'EXTRA_CHECKPOINT', partition: 70_000 }] })
  })

  it('[CKP-48] a pass that was cut short is no answer, although no stray was seen', async () => {
    const world = await projected()
    const controller = new AbortController()
    const deep = {
      async *scanKeys() {
        yield ['p:meta']
        controller.abort()
      },
    }
    const explaining = explainStart({ ...asked(world), deep, signal: controller.signal })
    await expect(explaining).rejects.toMatchObject({ code: 'TM_CORE_CANCELLED' })
  })

  it('[CKP-48] counts a million strays and keeps a thousand', async () => {
    const world = await projected()
    const deep = {
      async *scanKeys() {
        for (let page = 0; page < 1_000; page += 1) {
          yield Array.from({ length: 1_000 }, (_, at) => `p:x:${page * 1_000 + at}`)
        }
      },
    }
    const { strays } = await explainStart({ ...asked(world), deep })
    expect(strays).toMatchObject({ keysSeen: 1_000_000, strayCount: 1_000_000 })
    expect(strays!.strays.length).toBe(1_000)
  })
})
