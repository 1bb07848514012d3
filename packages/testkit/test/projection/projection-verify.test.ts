import { rebuild, verifyProjection } from '@tidemark/checkpoint'
import type { IdempotentWriter, ProjectionOptions, VerifyReport } from '@tidemark/checkpoint'
import {
  createCommutingMemoryProjectionStore,
  createMemoryDataReader,
  createMemoryProjectionStore,
} from '@tidemark/checkpoint/memory'
import type { LogRecord } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import {
  checkComplete,
  createProjectionWorld,
  dispatch,
  projectDispatch,
  textOf,
  topicName,
} from './projection-world.ts'
import type { ProjectionWorld } from './projection-world.ts'

const limits = { keysMax: 1_000, inspectMsMax: 1_000, stallMsMax: 5_000, differencesMax: 10 }

async function projected(records: number): Promise<ProjectionWorld> {
  const world = createProjectionWorld()
  const topic = world.log.cluster.topic(topicName)
  for (let n = 0; n < records; n += 1) topic.append(n % 2, dispatch(`u${n % 7}`, n))
  topic.append(0, { value: 'damaged' })
  const projection = world.projection()
  await projection.start()
  await projection.caughtUp()
  await projection.stop()
  return world
}

function verify(
  world: ProjectionWorld,
  extra: Partial<Parameters<typeof verifyProjection>[0]> = {},
): Promise<VerifyReport> {
  return verifyProjection({
    topic: topicName,
    log: world.log.openLog(),
    store: store(world, 'p', ''),
    project: projectDispatch,
    data: createMemoryDataReader(world.server),
    clock: world.log.clock,
    limits,
    ...extra,
  })
}

function store(world: ProjectionWorld, namespace: string, dataPrefix: string) {
  return createMemoryProjectionStore({
    namespace,
    dataPrefix,
    server: world.server,
    nonce: () => world.chooser.hex(32),
  })
}

function options(
  world: ProjectionWorld,
  into: ProjectionOptions<IdempotentWriter>['store'],
): ProjectionOptions<IdempotentWriter> {
  return {
    topic: topicName,
    log: world.log.openLog(),
    store: into,
    project: projectDispatch,
    readyTarget: 'hw',
    undecodable: 'quarantine',
    leaseMs: 1_000,
    limits: { batchRecordsMax: 10, stallMsMax: 5_000 },
    clock: world.log.clock,
  }
}

describe('verifying a projection', () => {
  it('[CKP-44] finds equal what the log says, counting undecodable records', async () => {
    const world = await projected(50)
    expect(await verify(world)).toEqual({
      kind: 'equal',
      recordsRead: 51,
      undecodable: 1,
      keysCompared: 7,
      differenceCount: 0,
      differences: [],
    })
  })

  it('[CKP-44] finds a missing key, an older score and a member too many, against the log and against a canonical reader', async () => {
    const world = await projected(50)
    world.server.put('convs:u0', { kind: 'absent' })
    world.server.put('convs:u1', {
      kind: 'sorted-set',
      scores: new Map([
        ['c1', 1],
        ['c8', 8],
        ['c15', 3],
      ]),
    })
    const report = await verify(world, { canonical: createMemoryDataReader(world.server) })
    expect(report).toMatchObject({ kind: 'different', differenceCount: 2 })
    expect(report.differences.map(({ key, against }) => `${key} ${against}`).sort()).toEqual([
      'convs:u0 log',
      'convs:u1 log',
    ])
    const canonical = {
      readValues: async (keys: readonly string[]) => keys.map(() => ({ kind: 'string' as const, value: 'x' })),
    }
    expect(
      (await verify(await projected(3), { canonical })).differences.every(({ against }) => against === 'canonical'),
    ).toBe(true)
  })

  it('[CKP-44] cannot verify without the whole history, on another topic, or beyond its limits', async () => {
    const code = { code: 'TM_CHECKPOINT_VERIFY_FAILED' }
    await expect(verify(await projected(50), { limits: { ...limits, keysMax: 3 } })).rejects.toMatchObject(code)
    const shortened = await projected(50)
    shortened.log.cluster.topic(topicName).deleteRecordsBefore(0, 3)
    await expect(verify(shortened)).rejects.toMatchObject(code)
    const recreated = await projected(50)
    recreated.log.cluster.recreateTopic(topicName)
    await expect(verify(recreated)).rejects.toMatchObject(code)
    const silent = await projected(50)
    silent.log.reading.frozen = true
    await expect(verify(silent)).rejects.toMatchObject(code)
  })

  it('[CKP-44] a compacted topic starts at 0 and is complete only where the latest record per key is declared to suffice', async () => {
    const world = await projected(50)
    const topic = world.log.cluster.topic(topicName)
    topic.cleanupPolicy = 'compact,delete'
    const failure = { code: 'TM_CHECKPOINT_VERIFY_FAILED', message: expect.stringContaining('compact,delete') }
    await expect(verify(world)).rejects.toMatchObject(failure)
    const undeclared = { latestRecordPerKeySuffices: 'yes' as unknown as boolean }
    await expect(verify(world, { declarations: undeclared })).rejects.toMatchObject(failure)
    const declared = await verify(world, { declarations: { latestRecordPerKeySuffices: true } })
    expect(declared).toMatchObject({ kind: 'equal', recordsRead: 51 })
  })

  it('[CKP-44] settings that cannot be read prove no complete history', async () => {
    const world = await projected(10)
    const log = world.log.openLog()
    const readSettings = async () => ({ kind: 'unreadable', message: 'not authorized' }) as const
    const blind = { ...log, inspector: { ...log.inspector, readSettings } }
    await expect(verify(world, { log: blind })).rejects.toMatchObject({
      code: 'TM_CHECKPOINT_VERIFY_FAILED',
      message: expect.stringContaining('not authorized'),
    })
  })

  it('[CKP-44] a key that a later record removed must be absent where data is served', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, { value: 'set' }, { value: 'del' })
    const project = (record: LogRecord, write: IdempotentWriter): void => {
      if (textOf(record) === 'set') write.set('flag', 'on')
      else write.del('flag')
    }
    const projection = world.projection({ project })
    await projection.start()
    await projection.caughtUp()
    await projection.stop()
    expect(await verify(world, { project })).toMatchObject({ kind: 'equal', keysCompared: 1 })
    world.server.put('flag', { kind: 'string', value: 'on' })
    expect(await verify(world, { project })).toMatchObject({
      kind: 'different',
      differences: [{ key: 'flag', against: 'log', expected: { kind: 'absent' } }],
    })
  })

  it('[CKP-44] a topic recreated while it is read proves nothing, although its records are the same', async () => {
    const world = await projected(20)
    world.log.gate.before('poll', world.log.gate.count('poll') + 1, () => {
      const recreated = world.log.cluster.recreateTopic(topicName)
      for (let n = 0; n < 20; n += 1) recreated.append(n % 2, dispatch(`u${n % 7}`, n))
      recreated.append(0, { value: 'damaged' })
    })
    await expect(verify(world)).rejects.toMatchObject({ code: 'TM_CHECKPOINT_VERIFY_FAILED' })
  })

  it('[CKP-44] partitions added since, and a checkpoint copied to another key, cannot be verified', async () => {
    const code = { code: 'TM_CHECKPOINT_VERIFY_FAILED' }
    const grown = await projected(20)
    grown.log.cluster.topic(topicName).grow(3)
    for (const [field, value] of Object.entries(grown.fields(1)!)) {
      grown.server.setField(`p:checkpoint:${topicName}:2`, field, field === 'partition' ? '2' : value)
    }
    await expect(verify(grown)).rejects.toMatchObject({ ...code, message: expect.stringContaining('partitionCount') })
    const copied = await projected(20)
    copied.server.setField(`p:checkpoint:${topicName}:1`, 'partition', '0')
    await expect(verify(copied)).rejects.toMatchObject(code)
  })

  it('[CKP-44] an asynchronous projection function writes nothing in time, so nothing would be compared', async () => {
    const world = await projected(20)
    const project = async (record: LogRecord, write: IdempotentWriter): Promise<void> => {
      await Promise.resolve()
      projectDispatch(record, write)
    }
    await expect(verify(world, { project: project as never })).rejects.toMatchObject({
      code: 'TM_CHECKPOINT_OPTION_INVALID',
    })
  })

  it.each(['keysMax', 'inspectMsMax', 'stallMsMax', 'differencesMax'] as const)(
    '[CKP-44] limits.%s that is no number bounds nothing and is refused',
    async (limit) => {
      const world = await projected(3)
      await expect(verify(world, { limits: { ...limits, [limit]: Number.NaN } })).rejects.toMatchObject({
        code: 'TM_CORE_LIMIT_INVALID',
      })
    },
  )
})

describe('rebuilding into a new namespace', () => {
  it('[CK-18] [CKP-45] goes on after partitions were added, leaving the old checkpoints as they are', async () => {
    const world = await projected(20)
    world.log.cluster.topic(topicName).grow(3)
    const before = world.server.snapshot()
    const outcome = await rebuild({
      projection: options(world, store(world, 'p2', 'v2:')),
      old: store(world, 'p', ''),
      data: { kind: 'new-prefix' },
    })
    expect(outcome.kind).toBe('started')
    if (outcome.kind !== 'started') return
    expect((await outcome.projection.caughtUp()).kind).toBe('ready')
    await outcome.projection.stop()
    for (const [key, value] of before) expect(world.server.snapshot().get(key)).toEqual(value)
    expect(world.server.snapshot().get('v2:convs:u3')).toEqual(before.get('convs:u3'))
  })

  it('[CKP-45] sharing data keys takes the old fences, and only with commuting writes', async () => {
    const world = await projected(20)
    const old = world.projection({ leaseMs: 600_000 })
    await old.start()
    await old.caughtUp()
    const refused = await rebuild({
      projection: options(world, store(world, 'p2', '')),
      old: store(world, 'p', ''),
      data: { kind: 'shared', keepsOldData: true },
    })
    expect(refused.kind === 'refused' && refused.problems.map((p) => p.code)).toEqual(['WRITES_DO_NOT_COMMUTE'])
    expect(old.status().ready).toBe(true)

    const commuting = createCommutingMemoryProjectionStore({
      namespace: 'p2',
      server: world.server,
      nonce: () => world.chooser.hex(32),
    })
    const outcome = await rebuild({
      projection: {
        ...options(world, store(world, 'unused', '')),
        store: commuting,
        project: projectDispatch as never,
      },
      old: store(world, 'p', ''),
      data: { kind: 'shared', keepsOldData: true },
    })
    expect(outcome.kind).toBe('started')
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 99))
    expect(await old.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'FENCED' } })
    await old.stop()
    if (outcome.kind === 'started') await outcome.projection.stop()
    checkComplete(world)
  })

  it('[CKP-45] refuses a used namespace, the same namespace, one data prefix for both, and an incomplete history', async () => {
    const world = await projected(20)
    const problems = async (namespace: string, dataPrefix: string): Promise<readonly string[]> => {
      const outcome = await rebuild({
        projection: options(world, store(world, namespace, dataPrefix)),
        old: store(world, 'p', ''),
        data: { kind: 'new-prefix' },
      })
      return outcome.kind === 'refused' ? outcome.problems.map((problem) => problem.code) : [outcome.kind]
    }
    expect(await problems('p', 'v2:')).toEqual(['SAME_NAMESPACE', 'NAMESPACE_NOT_EMPTY'])
    expect(await problems('p2', '')).toEqual(['SAME_DATA_PREFIX'])
    world.log.cluster.topic(topicName).deleteRecordsBefore(0, 2)
    expect(await problems('p2', 'v2:')).toEqual(['start-refused'])
  })

  it('[CKP-45] takes the fences the old meta names, also when the topic had another name then', async () => {
    const world = await projected(20)
    const old = world.projection({ leaseMs: 600_000 })
    await old.start()
    await old.caughtUp()
    world.log.cluster.createTopic('renamed', { partitions: 2 })
    const commuting = createCommutingMemoryProjectionStore({
      namespace: 'p2',
      server: world.server,
      nonce: () => world.chooser.hex(32),
    })
    const outcome = await rebuild({
      projection: {
        ...options(world, store(world, 'unused', '')),
        topic: 'renamed',
        store: commuting,
        project: projectDispatch as never,
      },
      old: store(world, 'p', ''),
      data: { kind: 'shared', keepsOldData: true },
    })
    expect(outcome.kind).toBe('started')
    world.log.cluster.topic(topicName).append(0, dispatch('ann', 99))
    expect(await old.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'FENCED' } })
    await old.stop()
    if (outcome.kind === 'started') await outcome.projection.stop()
  })

  it('[CKP-45] a namespace that lost its checkpoints is not a new one; fences of a late refusal leave it new', async () => {
    const world = await projected(20)
    const attempt = async (): Promise<string> => {
      const outcome = await rebuild({
        projection: options(world, store(world, 'p2', 'v2:')),
        old: store(world, 'p', ''),
        data: { kind: 'new-prefix' },
      })
      if (outcome.kind === 'started') await outcome.projection.stop()
      return outcome.kind === 'refused' ? outcome.problems.map((problem) => problem.code).join() : outcome.kind
    }
    await store(world, 'p2', 'v2:').claim({ topic: topicName, partitionCount: 2 })
    expect(await attempt()).toBe('started')
    for (const key of world.server.snapshot().keys()) {
      if (key === 'p2:meta' || key.startsWith('p2:checkpoint:')) world.server.put(key, { kind: 'absent' })
    }
    expect(await attempt()).toBe('NAMESPACE_NOT_EMPTY')
  })

  it('[CKP-45] closes what it was handed when log or store cannot be asked', async () => {
    const world = await projected(20)
    const into = store(world, 'p2', 'v2:')
    world.log.gate.failOnce('surveyIdentity', world.log.gate.count('surveyIdentity') + 1, new Error('no route'))
    const rebuilding = rebuild({
      projection: options(world, into),
      old: store(world, 'p', ''),
      data: { kind: 'new-prefix' },
    })
    await expect(rebuilding).rejects.toMatchObject({ code: 'TM_CHECKPOINT_START_FAILED' })
    await expect(into.read({ topic: topicName, partitionCount: 2 })).rejects.toThrow(/closed/)
  })
})
