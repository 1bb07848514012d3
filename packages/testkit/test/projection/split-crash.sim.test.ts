import { exploreCrashes } from '@tidemark/testkit/sim'
import type { CrashSubject } from '@tidemark/testkit/sim'
import { describe, expect, it } from 'vitest'
import { dispatch, topicName } from './projection-world.ts'
import { checkSplitComplete, checkSplitNotAhead, copyOf, createSplitWorld } from './split-world.ts'
import type { JoinStores, SplitWorld } from './split-world.ts'

const isFull = process.env['TIDEMARK_SIZE'] === 'full'
const seed = Number(process.env['TIDEMARK_SEED'] ?? 1)

function fill(world: SplitWorld, count: number): void {
  const topic = world.log.cluster.topic(topicName)
  topic.append(0, dispatch('ann', 5), dispatch('ben', 1), { value: 'damaged' })
  const committed = topic.begin()
  committed.append(0, dispatch('ann', 3))
  committed.append(1, dispatch('cy', 9), dispatch('cy', 4))
  committed.commit()
  for (let n = 0; n < count; n += 1) topic.append(n % 2, dispatch(`user${n % 3}`, n))
  const aborted = topic.begin()
  aborted.append(1, dispatch('nobody', 1))
  aborted.abort()
}

async function runOnce(world: SplitWorld): Promise<void> {
  const projection = world.projection()
  await projection.start()
  await projection.caughtUp({ deadlineMs: 60_000 })
  await projection.stop()
}

/** `since`: what happened before the explored lives, with everything up to then projected. */
const subject = (
  since: 'nothing' | 'data restored' | 'checkpoints restored',
  join?: JoinStores,
): CrashSubject<SplitWorld> => ({
  async createWorld() {
    const world = createSplitWorld(seed, join)
    fill(world, 3)
    if (since === 'nothing') return world
    await runOnce(world)
    const copy = copyOf(since === 'data restored' ? world.data : world.checkpoints)
    fill(world, 4)
    await runOnce(world)
    copy.restore()
    world.log.cluster.topic(topicName).append(0, dispatch('late', 1))
    return world
  },
  async live(world, process) {
    const projection = world.projection({}, process)
    try {
      const started = await projection.start()
      if (started.kind === 'refused') throw new Error(`refused: ${started.refusals.map((r) => r.code).join()}`)
      await projection.caughtUp({ deadlineMs: 120_000 })
    } catch (error) {
      if (!String((error as { code?: string }).code).startsWith('TM_CHECKPOINT_START_FAILED')) throw error
    }
    await projection.stop()
  },
  checkAlways: checkSplitNotAhead,
  checkEnd(world) {
    checkSplitNotAhead(world)
    checkSplitComplete(world)
  },
})

describe('a projection whose data lives on another server, dying anywhere', () => {
  it.each(['nothing', 'data restored', 'checkpoints restored'] as const)(
    `[A13] [CKP-50] after %s: loses nothing at any await of either server (seed ${seed})`,
    { timeout: 120_000 },
    async (since) => {
      const report = await exploreCrashes(subject(since), { depth: 'single', seed })
      expect([...report.pointsByCall.keys()]).toEqual(
        expect.arrayContaining(['data.advance', 'checkpoints.advance', 'data.claim', 'checkpoints.claim']),
      )
    },
  )

  it(`[A13] [CKP-50] loses nothing when the recovery dies too (seed ${seed})`, { timeout: 300_000 }, async () => {
    const report = await exploreCrashes(subject('nothing'), { depth: 'double', seed, pairsMax: isFull ? 10_000 : 60 })
    expect(report.doubleRuns).toBeGreaterThanOrEqual(isFull ? 3_000 : 60)
  })

  const planted: readonly (readonly [string, Parameters<typeof subject>[0], JoinStores])[] = [
    [
      'the checkpoint moves before the data, and a start does not ask where the data stands',
      'nothing',
      (data, checkpoints) => naive(data, checkpoints, 'checkpoint first'),
    ],
    [
      'a start does not ask where the data stands, and an older copy of it is put back',
      'data restored',
      (data, checkpoints) => naive(data, checkpoints, 'data first'),
    ],
  ]
  it.each(planted)('[CKP-50] [TST-8] planted: %s: found', { timeout: 120_000 }, async (_name, since, join) => {
    await expect(exploreCrashes(subject(since, join), { depth: 'single', seed })).rejects.toThrow(
      /position|stored|sessions|stands|refused/,
    )
  })
})

/** Two stores without a twin: what everybody writes first. */
function naive(
  data: Parameters<JoinStores>[0],
  checkpoints: Parameters<JoinStores>[0],
  order: 'checkpoint first' | 'data first',
): ReturnType<JoinStores> {
  return Object.assign(Object.create(checkpoints) as ReturnType<JoinStores>, {
    newWrites: () => data.newWrites(),
    async claim(request: Parameters<typeof data.claim>[0]) {
      const taken = await data.claim(request)
      const nonces = new Map([...taken.fences].map(([partition, { nonce }]) => [partition, nonce]))
      return checkpoints.claim({ ...request, nonces })
    },
    async bootstrap(request: Parameters<typeof data.bootstrap>[0]) {
      const { topic, partitionCount } = request.identity
      const found = await data.read({ topic, partitionCount })
      if (found.meta === undefined) await data.bootstrap({ ...request, createMeta: true })
      return checkpoints.bootstrap(request)
    },
    async advance(request: Parameters<typeof data.advance>[0]) {
      const { topic, partitionCount } = request.identity
      const move = async (): Promise<Awaited<ReturnType<typeof data.advance>>> =>
        checkpoints.advance({ ...request, writes: checkpoints.newWrites() })
      const first = order === 'checkpoint first' ? await move() : undefined
      if (first !== undefined && first.kind !== 'advanced') return first
      const found = await data.read({ topic, partitionCount })
      // Planted: whatever the data says of itself is taken for granted.
      const from = BigInt(found.checkpoints.get(request.partition)?.['next_offset'] ?? '0') as typeof request.from
      const { process } = found.incarnation
      if (from <= request.to) await data.advance({ ...request, from, process })
      return first ?? move()
    },
  })
}
