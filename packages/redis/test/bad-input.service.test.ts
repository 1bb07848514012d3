import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { startRedis, startRedisCluster } from '@tidemark/testkit/service'
import { isTidemarkError } from '@tidemark/core'
import type { CommutingWriter } from '@tidemark/checkpoint'
import { createRedisClusterProjectionStore, createSafeRedisCluster } from '@tidemark/redis/checkpoint'
import {
  adminClient,
  advance,
  fingerprint,
  freshNamespace,
  identity,
  keysOf,
  openStore,
  readRequest,
  start,
} from './redis-fixture.ts'

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})
const owned = <T extends { close(): Promise<unknown> }>(resource: T): T => {
  open.push(resource)
  return resource
}

/** The error of a call: its code, and that it says what to do. */
async function codeOf(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error === undefined) return 'nothing'
  if (!isTidemarkError(error)) throw new Error('the error has no code', { cause: error })
  expect(error.docsPath).toMatch(/^docs\/errors\/redis\.md#tm_redis_/)
  return error.code
}

const write = (w: CommutingWriter): void => w.zadd('convs:ada', 'GT', 5, 'c1')

describe.each(['atomic', 'two-step'] as const)('a server in trouble, the %s form', (form) => {
  it('[RED-17] [RED-9] MISCONF after a failed background save: typed, nothing half-written, and over when saving works', async () => {
    const server = owned(await startRedis({ config: { save: '3600 1', 'enable-protected-configs': 'yes' } }))
    const admin = await adminClient(server.url)
    open.push({ close: async () => admin.disconnect() })
    const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
    // A directory stands where the snapshot is to go.
    mkdirSync(join(server.dataDirectory, 'full.rdb'))
    await admin.config('SET', 'dbfilename', 'full.rdb')
    await admin.bgsave()
    await expect.poll(() => admin.info('persistence'), { timeout: 10_000 }).toContain('rdb_last_bgsave_status:err')
    const before = await fingerprint(admin)
    expect(await codeOf(advance(claimed, { from: 0, to: 1, write }))).toBe('TM_REDIS_PERSISTENCE_FAILED')
    expect(await fingerprint(admin)).toBe(before)
    await admin.config('SET', 'dbfilename', 'dump.rdb')
    await admin.bgsave()
    await expect.poll(() => admin.info('persistence'), { timeout: 10_000 }).toContain('rdb_last_bgsave_status:ok')
    expect((await advance(claimed, { from: 0, to: 1, write })).kind).toBe('advanced')
  })

  it(
    '[RED-17] [RED-16] LOADING: typed as passing, and nothing of a step under the old name of the process',
    { timeout: 60_000 },
    async () => {
      const server = owned(await startRedis({ config: { save: '3600 1' } }))
      const admin = await adminClient(server.url)
      const claimed = await start(owned(openStore(server.url, form, freshNamespace())))
      const pipeline = admin.pipeline()
      for (let n = 0; n < 1_000; n += 1) pipeline.set(`filler:${n}`, 'x'.repeat(100))
      await pipeline.exec()
      await admin.save()
      admin.disconnect()
      // Each key takes its time, so that the server is loading for some seconds.
      await server.stop()
      const restarted = server.restart({
        config: { 'key-load-delay': '1000', 'loading-process-events-interval-bytes': '1024' },
      })
      const seen = new Set<string>()
      let isUp = false
      void restarted.then(() => (isUp = true))
      while (!isUp) {
        seen.add(await codeOf(claimed.store.read(readRequest)))
        const outcome = await advance(claimed, { from: 0, to: 1, write }).then(
          ({ kind }) => kind,
          (error: { code: string }) => error.code,
        )
        expect(outcome).not.toBe('advanced')
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      await restarted
      expect([...seen]).toContain('TM_REDIS_LOADING')
      const after = await adminClient(server.url)
      expect(await after.hget(keysOf(claimed.store.namespace).checkpoint, 'next_offset')).toBe('0')
      expect(await after.exists('convs:ada')).toBe(0)
      after.disconnect()
    },
  )
})

it(
  '[RED-17] [RED-24] CLUSTERDOWN: a step is not repeated, a reading is until its deadline, and both are typed',
  { timeout: 60_000 },
  async () => {
    const cluster = owned(await startRedisCluster())
    const nodes = cluster.nodes.map(({ host, port }) => ({ host, port }))
    const source = createSafeRedisCluster({ nodes, commandDeadlineMs: 1_000 })
    const store = owned(createRedisClusterProjectionStore({ cluster: source, namespace: 'ns', form: 'two-step' }))
    const claimed = await start(store)
    const admins = await Promise.all(cluster.urls.map((url) => adminClient(url)))
    for (const admin of admins) await admin.call('CLUSTER', 'DELSLOTS', '1')
    await expect.poll(() => admins[2]!.call('CLUSTER', 'INFO'), { timeout: 10_000 }).toContain('cluster_state:fail')
    expect(await codeOf(advance(claimed, { from: 0, to: 1, write }))).toBe('TM_REDIS_CLUSTER_DOWN')
    const startedMs = performance.now()
    expect(await codeOf(store.read(readRequest))).toMatch(/^TM_REDIS_(CLUSTER_DOWN|CLUSTER_DISAGREES)$/)
    expect(performance.now() - startedMs).toBeLessThan(2_500)
    await admins[0]!.call('CLUSTER', 'ADDSLOTS', '1')
    for (const admin of admins) admin.disconnect()
    await cluster.ready()
    await expect
      .poll(
        () =>
          store.read(readRequest).then(
            (state) => state.checkpoints.size,
            () => 0,
          ),
        { timeout: 15_000 },
      )
      .toBe(3)
  },
)

/** Speaks the protocol and answers every script with the same bytes, whatever it was. */
async function lyingServer(
  scriptReply: string,
): Promise<{ readonly url: string; readonly scripts: () => number; close(): Promise<void> }> {
  const bulk = (text: string): string => `$${Buffer.byteLength(text)}\r\n${text}\r\n`
  const info = 'run_id:aa\r\nmaster_replid:bb\r\nrole:master\r\nloading:0\r\nmaxmemory_policy:noeviction\r\n'
  let scripts = 0
  const server: Server = createServer((socket) => {
    socket.on('error', () => undefined)
    socket.on('data', (chunk) => {
      for (const [, name] of chunk.toString('latin1').matchAll(/\*\d+\r\n\$\d+\r\n([A-Za-z]+)\r\n/g)) {
        switch (name!.toUpperCase()) {
          case 'INFO':
            socket.write(bulk(info))
            break
          case 'CLIENT':
            socket.write(bulk('id=1 db=0 '))
            break
          case 'CONFIG':
            socket.write('*0\r\n')
            break
          case 'EXISTS':
            socket.write(':0\r\n')
            break
          case 'EVALSHA':
          case 'ZADD':
            scripts += 1
            socket.write(scriptReply)
            break
          default:
            socket.write('+OK\r\n')
        }
      }
    })
  })
  await new Promise<void>((resolve) => server.listen({ host: '127.0.0.1', port: 0 }, resolve))
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => void (await new Promise((resolve) => server.close(resolve)))
  return { url: `redis://127.0.0.1:${port}`, scripts: () => scripts, close }
}

describe('replies of another shape or length over a real connection', () => {
  const replies: readonly (readonly [string, string])[] = [
    ['a status', '+OK\r\n'],
    ['a number beyond every count', ':99999999\r\n'],
    ['a negative number', ':-1\r\n'],
    ['nil', '$-1\r\n'],
    ['an empty array', '*0\r\n'],
    ['an unknown word', '*1\r\n$4\r\nmaybe\r\n'.replace('$4', '$5')],
    ['a known word with too little', '*2\r\n$8\r\nconflict\r\n$1\r\nk\r\n'],
    ['a known word with too much', '*2\r\n$8\r\nadvanced\r\n$1\r\nx\r\n'],
    ['a number where a word is due', '*1\r\n:1\r\n'],
    ['arrays in arrays', '*2\r\n*1\r\n:1\r\n*0\r\n'],
  ]
  it.each(replies)('[RED-6] %s: TM_REDIS_REPLY_MALFORMED from every call, never a success', async (_name, reply) => {
    for (const form of ['atomic', 'two-step'] as const) {
      const server = owned(await lyingServer(reply))
      const store = owned(openStore(server.url, form, freshNamespace()))
      const fences = new Map([0, 1, 2].map((p) => [p, { epoch: 1n, nonce: 'a'.repeat(32) }] as const))
      const claimed = { store, fences, process: 'aa:bb' }
      const calls = [
        store.read(readRequest),
        store.claim(readRequest),
        store.bootstrap({ identity, createMeta: true, partitions: [0], fences }),
        advance(claimed, { from: 0, to: 1, write }),
      ]
      for (const code of await Promise.all(calls.map(codeOf))) expect(code).toBe('TM_REDIS_REPLY_MALFORMED')
      expect(server.scripts()).toBeGreaterThanOrEqual(4)
    }
  })
})
