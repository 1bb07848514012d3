import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCuttingProxy, startRedis } from '@tidemark/testkit/service'
import type { CommandAction, CutRule, RedisServer } from '@tidemark/testkit/service'
import type { CommutingWriter, ProjectionStore } from '@tidemark/checkpoint'
import { createRedisSplitProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { Redis } from 'ioredis'
import { adminClient, fingerprint, identity, openStore, readRequest, request } from './redis-fixture.ts'
import type { Claimed } from './redis-fixture.ts'

const isFull = process.env['TIDEMARK_SIZE'] === 'full'
const deadlineMs = 250
/** What a busy machine may add to a deadline before a timer runs. */
const graceMs = 1_500

let server: RedisServer
let admin: Redis
beforeAll(async () => {
  server = await startRedis()
  admin = await adminClient(server.url)
})
afterAll(async () => {
  admin?.disconnect()
  await server?.close()
})

const namespace = 'sweep'
const forms = ['atomic', 'two-step', 'split'] as const
type Form = (typeof forms)[number]

function storeAt(url: string, form: Form, commandDeadlineMs: number): ProjectionStore<CommutingWriter> {
  if (form !== 'split') return openStore(url, form, namespace, { redis: { commandDeadlineMs } })
  const source = () => createSafeRedis(url, { commandDeadlineMs })
  return createRedisSplitProjectionStore({ data: source(), checkpoints: source(), namespace })
}

const write = (w: CommutingWriter): void => {
  for (const user of ['ada', 'ben', 'cyd']) w.zadd(`convs:${user}`, 'GT', 7, 'c1')
  w.setIfGreater('max', 9n)
}

/** One call of a store: how it is made, and what must hold however it ended. */
interface SweptCall {
  readonly name: 'read' | 'claim' | 'bootstrap' | 'advance'
  run(claimed: Claimed): Promise<unknown>
  /** `outcome` is what the call came to: a kind, or a code. Throws unless the state is one that the call may leave. */
  check(claimed: Claimed, outcome: string): Promise<void>
}

const advance = async ({ store, fences, process }: Claimed): Promise<string> =>
  (await store.advance(request({ store, fences, process }, { from: 0, to: 3, write }))).kind

const calls: readonly SweptCall[] = [
  {
    name: 'read',
    run: async ({ store }) => (await store.read(readRequest)).meta?.['topic_id'],
    async check({ store }) {
      expect((await store.read(readRequest)).checkpoints.get(0)?.['next_offset']).toBe('0')
    },
  },
  {
    name: 'claim',
    run: async ({ store }) => (await store.claim(readRequest)).fences.size,
    async check({ store }) {
      // Whatever was taken is taken again, and then held.
      const { fences } = await store.claim(readRequest)
      const stored = await store.read(readRequest)
      for (const [partition, { nonce }] of fences) expect(stored.fences.get(partition)).toContain(nonce)
      expect(await advance({ store, fences, process: stored.incarnation.process })).toBe('advanced')
    },
  },
  {
    name: 'bootstrap',
    run: async ({ store, fences }) =>
      (await store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })).kind,
    async check({ store, fences }, outcome) {
      const stored = await store.read(readRequest)
      // All or none, and all when it said so.
      expect([0, 3]).toContain(stored.checkpoints.size)
      expect(stored.meta === undefined).toBe(stored.checkpoints.size === 0)
      if (outcome === 'created') expect(stored.checkpoints.size).toBe(3)
      const again = await store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })
      expect(again.kind).toBe(stored.checkpoints.size === 0 ? 'created' : 'conflict')
    },
  },
  {
    name: 'advance',
    run: advance,
    async check(claimed, outcome) {
      const next = (await claimed.store.read(readRequest)).checkpoints.get(0)?.['next_offset']
      expect(['0', '3']).toContain(next)
      if (outcome === 'advanced') expect(next).toBe('3')
      if (next === '3') await expectData()
      // The same step again completes it, or finds it complete.
      expect(await advance(claimed)).toBe('advanced')
      expect((await claimed.store.read(readRequest)).checkpoints.get(0)?.['next_offset']).toBe('3')
      await expectData()
    },
  },
]

async function expectData(): Promise<void> {
  for (const user of ['ada', 'ben', 'cyd'])
    expect(await admin.zrange(`convs:${user}`, '0', '-1', 'WITHSCORES')).toEqual(['c1', '7'])
  expect(await admin.get('max')).toBe('9')
}

/** A fresh state for a call: claimed, and bootstrapped unless the call is the bootstrap itself. */
async function prepare(near: ProjectionStore<CommutingWriter>, call: SweptCall): Promise<Claimed> {
  await admin.flushall()
  const { fences } = await near.claim(readRequest)
  if (call.name !== 'bootstrap') await near.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })
  const { incarnation } = await near.read(readRequest)
  return { store: near, fences, process: incarnation.process }
}

/** Makes the call with a fault and checks everything; says whether the fault struck and how many bytes went each way. */
async function strike(
  form: Form,
  call: SweptCall,
  rule: CutRule | undefined,
): Promise<{ struck: boolean; bytes: readonly [number, number] }> {
  // What prepares and judges goes past the proxy and has time.
  const near = storeAt(server.url, form, 10_000)
  const proxy = await createCuttingProxy({ target: server, framing: 'resp' })
  const far = storeAt(`redis://127.0.0.1:${proxy.port}`, form, deadlineMs)
  try {
    const claimed = await prepare(near, call)
    const cut = rule === undefined ? undefined : proxy.program(rule)
    const startedMs = performance.now()
    const outcome = await call
      .run({ ...claimed, store: far })
      .then(String, (error: { code?: string; message: string }) => error.code ?? error.message)
    // A split call asks two servers, each within its own deadline.
    expect(performance.now() - startedMs).toBeLessThan(deadlineMs * (form === 'split' ? 2 : 1) + graceMs)
    const struck = (cut?.strikes() ?? 0) > 0
    if (struck && rule !== undefined && !(rule.on === 'command' && rule.action.kind === 'delay')) {
      expect(outcome).toMatch(/^TM_REDIS_(CONNECTION_LOST|CONNECT_FAILED|TIMEOUT)$|^(created|advanced|3|edbce.*)$/)
    }
    const counts = proxy.connections()
    await call.check(claimed, outcome)
    const sum = (key: 'bytesToServer' | 'bytesToClient'): number => counts.reduce((total, each) => total + each[key], 0)
    return { struck, bytes: [sum('bytesToServer'), sum('bytesToClient')] }
  } finally {
    await Promise.all([near.close(), far.close()])
    await proxy.close()
  }
}

const actions: readonly CommandAction[] = [
  { kind: 'cut-before-forward' },
  { kind: 'cut-in-request', bytes: 7 },
  { kind: 'cut-before-reply' },
  { kind: 'cut-in-reply', bytes: 2 },
  { kind: 'delay', delayMs: 40 },
  { kind: 'silence-before-forward' },
  { kind: 'silence-before-reply' },
]

/** The step in every way; the calls of a start in three ways unless there is time for all. */
const actionsFor = ({ name }: SweptCall): readonly CommandAction[] =>
  isFull || name === 'advance'
    ? actions
    : actions.filter(({ kind }) => ['cut-in-request', 'cut-before-reply', 'silence-before-forward'].includes(kind))

/** A split store opens one connection to each server; the second call of a start is swept with time for it. */
const connectionsOf = (form: Form, { name }: SweptCall): readonly number[] =>
  form === 'split' && (isFull || name === 'advance') ? [1, 2] : [1]

describe.each(forms)('the %s store behind a cutting proxy', (form) => {
  it.each(calls)(
    '[A1] [A13] [RED-2] [RED-11] [RED-28] $name: cut before, inside and after every command, delayed, half-open',
    { timeout: 300_000 },
    async (call) => {
      let struck = 0
      for (const action of actionsFor(call)) {
        for (const connection of connectionsOf(form, call)) {
          for (let command = 1; ; command += 1) {
            const result = await strike(form, call, { on: 'command', command, connection, action })
            if (!result.struck) break
            struck += 1
          }
        }
      }
      // Three commands of the opening and at least one of the call, each in every way.
      expect(struck).toBeGreaterThanOrEqual(4 * actionsFor(call).length)
    },
  )

  it.each(calls)(
    '[A13] [RED-2] [RED-28] $name: cut at byte after byte in both directions',
    { timeout: 600_000 },
    async (call) => {
      const { bytes } = await strike(form, call, undefined)
      const before = await fingerprint(admin)
      expect(before).not.toBe('')
      for (const [direction, total] of [
        ['to-server', bytes[0]],
        ['to-client', bytes[1]],
      ] as const) {
        const stride = Math.max(1, Math.floor(total / (isFull ? 150 : 3)))
        let struck = 0
        for (let at = 0; at < total; at += stride) {
          const result = await strike(form, call, { on: 'bytes', direction, bytes: at, connection: 1, action: 'cut' })
          if (result.struck) struck += 1
        }
        expect(struck).toBeGreaterThan(1)
      }
    },
  )
})
