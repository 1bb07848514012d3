import { setTimeout as sleep } from 'node:timers/promises'
import type { Projection, Refusal } from '@tidemark/checkpoint'
import { startKafka } from '@tidemark/testkit/service'
import type { KafkaCluster } from '@tidemark/testkit/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkContiguous, contiguousValues } from '../src/contiguous-records.ts'
import { dispatches } from '../src/dispatch.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady, untilStatus } from '../src/gate-world.ts'
import type { GateWorld } from '../src/gate-world.ts'
import { holdLog } from '../src/held-log.ts'
import type { HeldLog } from '../src/held-log.ts'
import { refusedStart } from '../src/refusal-codes.ts'
import { createReplicatedTopic } from '../src/replicated-topic.ts'
import { variantsOf } from '../src/variants/gate-variants.ts'

// Three brokers take 1.4 GB, and every step of these stories waits for a session time-out of 4 s: each story is told
// once, and every variant lives through it at the same time, in a namespace of its own.
const open = gateWorlds()
const variants = variantsOf('A12')
const storyMs = 6 * 60_000
let cluster: KafkaCluster
beforeAll(async () => {
  cluster = await startKafka({ brokers: 3, controllers: 'first' })
})
afterAll(() => cluster?.close())

interface Life {
  readonly world: GateWorld
  readonly held: HeldLog
  readonly projection: Projection
}

const worldsOn = (topic: string): Promise<readonly GateWorld[]> =>
  Promise.all(variants.map((variant) => open({ variant, topic, brokers: cluster.bootstrapBrokers })))

/** A ready projection of every variant. Leases are long, so that only what comes with a fetch can find out. */
async function livesOn(topic: string, leaseMs: number = 600_000): Promise<readonly Life[]> {
  return livesIn(await worldsOn(topic), leaseMs)
}

function livesIn(worlds: readonly GateWorld[], leaseMs: number): Promise<readonly Life[]> {
  return Promise.all(
    worlds.map(async (world) => {
      const held = holdLog(world.variant.log.open(cluster.bootstrapBrokers))
      const limits = { batchRecordsMax: 100, stallMsMax: 30_000 }
      const projection = world.projection({ log: held.log, leaseMs, limits })
      await startReady(projection)
      return { world, held, projection }
    }),
  )
}

/** Waits until a projection ended or so long; what it says then. */
async function endOrState(projection: Projection, waitMs: number): Promise<string> {
  const ended = await Promise.race([projection.ended(), sleep(waitMs)])
  if (ended === undefined) return projection.status().ready ? 'ready' : 'held'
  return ended.kind === 'dirty' ? `dirty ${ended.reason.code}` : ended.kind
}

/**
 * The codes of a refusal, once the cluster agrees with itself: while a broker lags behind the others or contradicts them,
 * nothing is proven, and that is the only other reason there may be.
 */
async function onceProven(refuse: () => Promise<readonly Refusal[]>): Promise<readonly string[]> {
  const untilMs = performance.now() + 120_000
  for (;;) {
    const refusals = await refuse()
    const codes = refusals.map((refusal) => refusal.code)
    if (!codes.includes('IDENTITY_UNPROVEN')) return codes
    expect(codes).toEqual(['IDENTITY_UNPROVEN'])
    if (performance.now() > untilMs) throw new Error(`nothing proven in 120 s: ${refusals[0]!.message}`)
    await sleep(250)
  }
}

/** What a dry run says against a start. */
async function explained(world: GateWorld): Promise<readonly Refusal[]> {
  const dry = world.projection()
  try {
    const verdict = await dry.explain()
    return verdict.kind === 'refused' ? verdict.refusals : []
  } finally {
    await dry.stop()
  }
}

const conversations = async (world: GateWorld): Promise<readonly string[]> =>
  Object.keys(await world.store.sessions('u')).sort()

const stopAll = (lives: readonly Life[]): Promise<unknown> => Promise.all(lives.map((life) => life.projection.stop()))

describe('three brokers', () => {
  it(
    '[A12] a clean change of leaders: nothing is skipped, lost or applied twice, and serving goes on',
    async () => {
      const replicated = await createReplicatedTopic(cluster, 3)
      await replicated.append(contiguousValues(0, 50, 'u'))
      const lives = await livesOn(replicated.topic, 500)
      const [leader] = await replicated.replicas()
      await leader!.kill()
      try {
        await replicated.until((placement) => placement.leader !== undefined && placement.leader !== leader!.nodeId)
        await replicated.append(contiguousValues(50, 50, 'u'))
        for (const { projection } of lives) {
          await untilStatus(projection, (status) => status.state === 'dirty' || status.partitions[0]?.next === '100')
          await untilStatus(projection, (status) => status.state === 'dirty' || status.ready)
          expect(projection.status().dirty).toBeUndefined()
        }
        for (const { world } of lives) expect(await checkContiguous(world, 'u')).toBe(100)
      } finally {
        await leader!.restart()
      }
      await stopAll(lives)
    },
    storyMs,
  )

  it(
    '[A5] the old leader frozen over a recreation: refused at start; live, held or idle: never one record of the new topic',
    async () => {
      const replicated = await createReplicatedTopic(cluster, 3)
      await replicated.append(dispatches('old', 5, 'u'))
      const stopped = await worldsOn(replicated.topic)
      await Promise.all(stopped.map((world) => world.catchUp()))
      const held = await livesOn(replicated.topic)
      const idle = await livesOn(replicated.topic, 300)
      for (const life of held) life.held.hold([0])
      const [leader] = await replicated.replicas()
      leader!.pause()
      try {
        await replicated.until((placement) => placement.leader !== undefined && placement.leader !== leader!.nodeId)
        await replicated.recreate(2)
        await replicated.append(dispatches('new', 40, 'u'))
        for (const life of held) life.held.release([0])
        for (const world of stopped) expect(await onceProven(() => refusedStart(world))).toEqual(['TOPIC_ID'])
        for (const life of idle) expect(await endOrState(life.projection, 20_000)).toMatch(/^dirty /)
      } finally {
        leader!.resume()
      }
      // The frozen broker is back and still believes in the old topic for a while.
      // One that got no answer by then may still be ready: its lease is not due. What counts is what it applied.
      for (const life of held) expect(await endOrState(life.projection, 20_000)).toMatch(/^(dirty |held|ready)/)
      for (const { world } of [...held, ...idle]) {
        expect(await conversations(world)).toEqual(['old0', 'old1', 'old2', 'old3', 'old4'])
        expect(await world.store.checkpoint(0)).toBe('5')
      }
      for (const world of stopped) expect(await onceProven(() => refusedStart(world))).toEqual(['TOPIC_ID'])
      await stopAll([...held, ...idle])
    },
    storyMs,
  )

  it(
    '[A12] an unclean election inside the range: refused as LOG_DIVERGED, live beyond it dirty, live below it on the right records',
    async () => {
      const config = { 'unclean.leader.election.enable': 'true', 'min.insync.replicas': '1' }
      const replicated = await createReplicatedTopic(cluster, 2, config)
      const [leader, follower] = await replicated.replicas()
      await replicated.append(dispatches('old', 10, 'u'))
      const below = await livesOn(replicated.topic)
      for (const life of below) life.held.hold([0])
      await follower!.kill()
      await replicated.until(({ inSync }) => inSync.length === 1)
      await replicated.append(Array.from({ length: 5 }, (_, n) => dispatches(`old1${n}-`, 1, 'u')[0]!))
      const beyond = await livesOn(replicated.topic)
      // A client compares epochs only for a position whose epoch it knows; one that was assigned and has read nothing does not.
      const behindResumed = await worldsOn(replicated.topic)
      await Promise.all(behindResumed.map((world) => world.catchUp()))
      const resumed = await livesIn(behindResumed, 600_000)
      // Held until the log has grown past them again, so that no fetch meets its end in between.
      for (const life of resumed) life.held.hold([0])
      const stopped = await worldsOn(replicated.topic)
      await Promise.all(stopped.map((world) => world.catchUp()))
      const applied = await conversations(stopped[0]!)
      expect(applied).toHaveLength(15)
      await leader!.kill()
      await follower!.restart()
      try {
        await replicated.until((placement) => placement.leader === follower!.nodeId)
        for (const world of stopped) {
          expect(await onceProven(() => explained(world))).toContain('NEXT_ABOVE_HIGH')
        }
        await replicated.append(dispatches('new', 10, 'u'))
        for (const life of [...below, ...resumed]) life.held.release([0])
        // Position 15 lies inside [0, 20] and every id is the same one: only the record at 14 tells.
        for (const world of stopped) expect(await onceProven(() => refusedStart(world))).toEqual(['LOG_DIVERGED'])
        for (const { world, projection } of [...beyond, ...resumed]) {
          const end = await endOrState(projection, 15_000)
          const life = resumed.some((one) => one.world === world) ? 'resumed at' : 'read up to'
          console.info(`${life} a position beyond the truncation, ${world.variant.name}: ${end}`)
          expect(await conversations(world)).toEqual(applied)
          expect(end).toMatch(/^dirty /)
        }
        for (const { world, projection } of below) {
          await untilStatus(projection, (status) => status.state === 'dirty' || status.partitions[0]?.next === '20')
          const end = await endOrState(projection, 1)
          console.info(`live below the truncation, ${world.variant.name}: ${end}`)
          const stored = await conversations(world)
          if (end.startsWith('dirty ')) expect(stored).toHaveLength(10)
          else expect(stored.filter((conversation) => conversation.startsWith('new'))).toHaveLength(10)
          expect(stored.filter((conversation) => conversation.startsWith('old1') && conversation !== 'old1')).toEqual(
            [],
          )
        }
      } finally {
        await leader!.restart()
      }
      await stopAll([...below, ...beyond, ...resumed])
    },
    storyMs,
  )
})
