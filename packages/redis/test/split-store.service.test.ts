import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createProjection } from '@tidemark/checkpoint'
import type { IdempotentWriter, Projection, ProjectionStore } from '@tidemark/checkpoint'
import { createCuttingProxy, startRedis } from '@tidemark/testkit/service'
import type { CommandAction, CuttingProxy, RedisServer } from '@tidemark/testkit/service'
import { createSimLog } from '@tidemark/testkit/sim'
import type { SimLogWorld } from '@tidemark/testkit/sim'
import { createRedisSplitProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { Redis } from 'ioredis'
import { adminClient } from './redis-fixture.ts'

const sides = ['data', 'checkpoints'] as const
type Side = (typeof sides)[number]

const isFull = process.env['TIDEMARK_SIZE'] === 'full'
const persistent = { appendonly: 'yes', appendfsync: 'always' }
let servers: Record<Side, RedisServer>
let admins: Record<Side, Redis>
let log: SimLogWorld
const open: { close(): Promise<unknown> }[] = []

beforeAll(async () => {
  const [data, checkpoints] = await Promise.all(sides.map(() => startRedis({ config: persistent })))
  servers = { data: data!, checkpoints: checkpoints! }
})
afterAll(async () => {
  await Promise.all(sides.map((side) => servers?.[side].close()))
})
beforeEach(async () => {
  for (const side of sides) if (servers[side].state() !== 'running') await servers[side].restart()
  admins = { data: await adminClient(servers.data.url), checkpoints: await adminClient(servers.checkpoints.url) }
  for (const side of sides) await admins[side].flushall()
  log = createSimLog({ seed: 5 })
  log.cluster.createTopic('dispatch', { partitions: 1 })
})
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
  for (const side of sides) admins[side].disconnect()
})

function append(from: number, to: number): void {
  const topic = log.cluster.topic('dispatch')
  for (let n = from; n < to; n += 1) topic.append(0, { key: `u${n % 3}`, value: `${n}` })
}

function storeAt(urls: Record<Side, string>): ProjectionStore<IdempotentWriter> {
  const source = (side: Side) => createSafeRedis(urls[side], { commandDeadlineMs: 1_500 })
  return createRedisSplitProjectionStore({ data: source('data'), checkpoints: source('checkpoints'), namespace: 'ns' })
}

function projection(
  urls: Record<Side, string> = { data: servers.data.url, checkpoints: servers.checkpoints.url },
): Projection {
  const made = createProjection<IdempotentWriter>({
    topic: 'dispatch',
    log: log.openLog(),
    store: storeAt(urls),
    // Not commuting on purpose: what an older record wrote must never stand in the end.
    project: (record, write) => {
      const n = new TextDecoder().decode(record.value!)
      write.hset('last', new TextDecoder().decode(record.key!), n)
      write.zadd('all', 'GT', Number(n), `c${n}`)
    },
    readyTarget: 'hw',
    undecodable: 'stop',
    leaseMs: 200,
    limits: { batchRecordsMax: 4, stallMsMax: 5_000 },
  })
  open.push({ close: () => made.stop() })
  return made
}

/** Starts and catches up; why not, otherwise. */
async function run(urls?: Record<Side, string>): Promise<string> {
  const made = projection(urls)
  try {
    const started = await made.start()
    if (started.kind === 'refused') return started.refusals.map(({ code }) => code).join()
    const reached = await made.caughtUp({ deadlineMs: 10_000 })
    return reached.kind === 'dirty' ? reached.reason.code : reached.kind
  } catch (error) {
    return (error as { code: string }).code
  } finally {
    await made.stop()
  }
}

const positions = async (): Promise<readonly (string | null)[]> => [
  await admins.data.hget('ns:twin:checkpoint:dispatch:0', 'next_offset'),
  await admins.checkpoints.hget('ns:checkpoint:dispatch:0', 'next_offset'),
]

/** The data must be what records below `count` say, and both positions at its end. */
async function expectComplete(count: number): Promise<void> {
  expect(await positions()).toEqual([String(count), String(count)])
  expect(await admins.data.zcard('all')).toBe(count)
  const last = Object.fromEntries([0, 1, 2].map((u) => [`u${u}`, String(count - 1 - ((count - 1 - u) % 3))]))
  expect(await admins.data.hgetall('last')).toEqual(last)
}

describe('data and checkpoints on two Redis servers', () => {
  it('[RED-22] [RED-4] data and its twin stand on the one, checkpoints byte for byte as ever on the other', async () => {
    append(0, 10)
    expect(await run()).toBe('ready')
    await expectComplete(10)
    const fields = await admins.checkpoints.hgetall('ns:checkpoint:dispatch:0')
    expect(Object.keys(fields)).toHaveLength(7)
    expect((await admins.checkpoints.keys('*')).filter((key) => !key.startsWith('ns:'))).toEqual([])
    expect((await admins.data.keys('*')).filter((key) => !key.startsWith('ns:twin:')).sort()).toEqual(['all', 'last'])
  })

  it('[RED-22] [CKP-19] [CK-46] the data server emptied: DATA_TWIN, nothing written', async () => {
    append(0, 10)
    await run()
    await servers.data.restart({ wipeData: true })
    expect(await run()).toBe('DATA_TWIN')
    expect(await admins.data.dbsize()).toBe(0)
    expect(await admins.checkpoints.hget('ns:checkpoint:dispatch:0', 'next_offset')).toBe('10')
  })

  it.each(sides)(
    '[RED-22] [CKP-50] the %s server restored from an older copy: the same data in the end',
    async (side) => {
      append(0, 10)
      await run()
      const keys = await admins[side].keys('*')
      const copy = await Promise.all(keys.map(async (key) => [key, await admins[side].dumpBuffer(key)] as const))
      append(10, 30)
      expect(await run()).toBe('ready')
      await admins[side].flushall()
      for (const [key, bytes] of copy) await admins[side].restore(key, 0, bytes)
      append(30, 32)
      expect(await positions()).toEqual(side === 'data' ? ['10', '30'] : ['30', '10'])
      expect(await run()).toBe('ready')
      await expectComplete(32)
    },
  )

  it.each(sides)(
    '[RED-22] [A13] the %s server killed under a running projection: dirty, and a restart loses nothing',
    async (side) => {
      append(0, 6)
      const running = projection()
      await running.start()
      expect((await running.caughtUp({ deadlineMs: 10_000 })).kind).toBe('ready')
      await servers[side].kill()
      append(6, 12)
      expect(await running.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'STORE_FAILED' } })
      await running.stop()
      await servers[side].restart()
      expect(await run()).toBe('ready')
      await expectComplete(12)
    },
  )

  it('[RED-22] [CKP-52] [A8] an older writer is fenced on the server of the data before anything of it is written', async () => {
    append(0, 4)
    const older = projection()
    await older.start()
    await older.caughtUp({ deadlineMs: 10_000 })
    const newer = projection()
    await newer.start()
    append(4, 8)
    expect(await older.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'FENCED' } })
    await newer.caughtUp({ deadlineMs: 10_000 })
    await expect.poll(positions, { timeout: 5_000 }).toEqual(['8', '8'])
    await newer.stop()
    await expectComplete(8)
  })
})

const actions: readonly CommandAction[] = [
  { kind: 'cut-before-forward' },
  { kind: 'cut-in-request', bytes: 60 },
  { kind: 'cut-before-reply' },
  { kind: 'cut-in-reply', bytes: 3 },
]

describe('a connection to either server cut at every script', () => {
  it.each(sides)(
    '[RED-22] [A1] [A13] %s: whatever was cut, the next life completes it',
    { timeout: 90_000 },
    async (side) => {
      let proxy: CuttingProxy
      let explored = 0
      // Half of the ways are enough to find a hole at a command; the full size walks them all.
      for (const action of isFull ? actions : actions.filter(({ kind }) => kind.startsWith('cut-before'))) {
        for (let command = 1; ; command += 1) {
          for (const each of sides) await admins[each].flushall()
          log = createSimLog({ seed: 5 })
          log.cluster.createTopic('dispatch', { partitions: 1 })
          append(0, 7)
          proxy = await createCuttingProxy({ target: servers[side], framing: 'resp' })
          const cut = proxy.program({ on: 'command', name: 'EVALSHA', command, action })
          const urls = {
            data: servers.data.url,
            checkpoints: servers.checkpoints.url,
            [side]: `redis://127.0.0.1:${proxy.port}`,
          }
          const outcome = await run(urls)
          const wasCut = cut.strikes() > 0
          await proxy.close()
          expect(outcome, `${side} ${action.kind} ${command}`).toMatch(
            /^(ready|STORE_FAILED|TM_CHECKPOINT_START_FAILED)$/,
          )
          expect(await run()).toBe('ready')
          await expectComplete(7)
          if (!wasCut) break
          explored += 1
        }
      }
      expect(explored).toBeGreaterThan(10)
    },
  )
})
