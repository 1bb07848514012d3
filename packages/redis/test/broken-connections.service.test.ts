import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createCuttingProxy, startRedis } from '@tidemark/testkit/service'
import type { CommandAction, CuttingProxy, RedisServer } from '@tidemark/testkit/service'
import type { CommutingWriter } from '@tidemark/checkpoint'
import type { RedisStepForm } from '@tidemark/redis/checkpoint'
import type { Redis } from 'ioredis'
import {
  adminClient,
  fingerprint,
  freshNamespace,
  keysOf,
  openStore,
  readRequest,
  request,
  start,
  witnessAt,
} from './redis-fixture.ts'
import type { Claimed, StepWords } from './redis-fixture.ts'

let server: RedisServer
let admin: Redis
let proxy: CuttingProxy
const open: { close(): Promise<unknown> }[] = []
beforeAll(async () => {
  server = await startRedis()
  admin = await adminClient(server.url)
})
afterAll(async () => {
  admin?.disconnect()
  await server?.close()
})
afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each.close()
})

/** A started projection whose store reaches the server through a proxy of its own. */
async function throughProxy(form: RedisStepForm): Promise<Claimed> {
  await admin.flushall()
  const namespace = freshNamespace()
  const near = openStore(server.url, form, namespace)
  const claimed = await start(near)
  await near.close()
  proxy = await createCuttingProxy({ target: server, framing: 'resp' })
  const store = openStore(`redis://${proxy.host}:${proxy.port}`, form, namespace)
  open.push(proxy, store)
  return { ...claimed, store }
}

const step = async (claimed: Claimed, words: StepWords): Promise<string> => {
  try {
    const outcome = await claimed.store.advance(request(claimed, words))
    return outcome.kind === 'advanced' && outcome.resent ? 'resent' : outcome.kind
  } catch (error) {
    return (error as { code: string }).code
  }
}

const nextOffset = (claimed: Claimed): Promise<string | null> =>
  admin.hget(keysOf(claimed.store.namespace).checkpoint, 'next_offset')

const sessions = (createdAt: number) => (w: CommutingWriter) => {
  for (const user of ['ada', 'ben', 'cyd']) w.zadd(`convs:${user}`, 'GT', createdAt, 'c1')
}

const actions: readonly (readonly [string, CommandAction, boolean])[] = [
  ['before the command reached the server', { kind: 'cut-before-forward' }, false],
  ['inside the command', { kind: 'cut-in-request', bytes: 400 }, false],
  ['after the server ran it, before the reply', { kind: 'cut-before-reply' }, true],
  ['inside the reply', { kind: 'cut-in-reply', bytes: 5 }, true],
]

describe.each(['atomic', 'two-step'] as const)('a connection cut in the %s step', (form) => {
  it.each(actions)(
    '[RED-11] [CK-39] %s: the call fails, one effect at most, and the resent step is success',
    async (_when, action, ran) => {
      const claimed = await throughProxy(form)
      // In the two-step form the only script is the compare-and-set; its data went before it.
      proxy.program({ on: 'command', name: 'EVALSHA', command: 1, action })
      const words = { from: 0, to: 3, write: sessions(7) }
      expect(await step(claimed, words)).toBe('TM_REDIS_CONNECTION_LOST')
      expect(await nextOffset(claimed)).toBe(ran ? '3' : '0')
      expect(await step(claimed, words)).toBe(ran ? 'resent' : 'advanced')
      expect(await nextOffset(claimed)).toBe('3')
      expect(await admin.zrange('convs:ada', '0', '-1', 'WITHSCORES')).toEqual(['c1', '7'])
      // The client repeated nothing by itself: one connection failed, one was opened by the second call.
      expect(proxy.connections()).toHaveLength(2)
      const scripts = proxy.connections().map(({ commands }) => commands.filter((name) => name === 'EVALSHA').length)
      expect(scripts).toEqual([1, 1])
    },
  )

  it('[RED-11] a cut between two steps costs nothing: the next step opens a connection and goes on', async () => {
    const claimed = await throughProxy(form)
    expect(await step(claimed, { from: 0, to: 1 })).toBe('advanced')
    proxy.cutAll()
    await expect.poll(() => proxy.connections()[0]?.open).toBe(false)
    await new Promise((resolve) => setTimeout(resolve, 50))
    expect(await step(claimed, { from: 1, to: 2 })).toBe('advanced')
  })

  it('[RED-2] [RED-11] everything in flight on a cut connection rejects', async () => {
    const claimed = await throughProxy(form)
    await step(claimed, { partition: 0, from: 0, to: 1 })
    proxy.program({ on: 'command', name: 'EVALSHA', command: 2, action: { kind: 'cut-before-reply' } })
    const calls = [0, 1, 2].map((partition) => step(claimed, { partition, from: partition === 0 ? 1 : 0, to: 5 }))
    expect(await Promise.all(calls)).toEqual(Array(3).fill('TM_REDIS_CONNECTION_LOST'))
  })

  it('[RED-13] [RED-14] a record beyond the limits, cut between its parts: no checkpoint, and the repetition completes it', async () => {
    const claimed = await throughProxy(form)
    const many = (w: CommutingWriter): void => {
      for (let index = 0; index < 4_500; index += 1) w.zadd(`k${index % 50}`, 'GT', index, `m${index}`)
    }
    const name = form === 'atomic' ? 'EVALSHA' : 'ZADD'
    const command = form === 'atomic' ? 2 : 51
    proxy.program({ on: 'command', name, command, action: { kind: 'cut-before-reply' } })
    expect(await step(claimed, { from: 0, to: 1, write: many })).toBe('TM_REDIS_CONNECTION_LOST')
    expect(await nextOffset(claimed)).toBe('0')
    expect(await admin.get(keysOf(claimed.store.namespace).witness)).toBeNull()
    expect(await admin.zcard('k0')).toBeGreaterThan(0)
    expect(await step(claimed, { from: 0, to: 1, write: many })).toBe('advanced')
    const counts = await Promise.all(Array.from({ length: 50 }, (_, index) => admin.zcard(`k${index}`)))
    expect(counts).toEqual(Array(50).fill(90))
  })

  it('[A7] [RED-11] a step replayed 100 times over connections cut at random: monotone, no duplicates, nothing missing', async () => {
    const claimed = await throughProxy(form)
    await step(claimed, { from: 0, to: 1, write: sessions(900) })
    let state = 7
    const draw = (below: number): number => {
      state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
      return Math.floor(state / 1_024) % below
    }
    let position = 1
    for (let replay = 0; replay < 100; replay += 1) {
      if (replay % 3 === 0) {
        const [, action] = actions[draw(actions.length)]!
        const name = form === 'two-step' && draw(2) === 0 ? 'ZADD' : 'EVALSHA'
        const current = proxy.connections().at(-1)!
        const seen = current.open ? current.commands.filter((each) => each === name).length : 0
        proxy.program({ on: 'command', name, command: seen + 1 + (name === 'ZADD' ? draw(3) : 0), action })
      }
      const words = {
        from: position,
        to: position + 1,
        write: sessions(100 + draw(800)),
        witness: witnessAt(BigInt(position)),
      }
      let outcome = await step(claimed, words)
      for (let attempt = 0; outcome === 'TM_REDIS_CONNECTION_LOST' && attempt < 5; attempt += 1)
        outcome = await step(claimed, words)
      expect(['advanced', 'resent']).toContain(outcome)
      position += 1
      proxy.clear()
      for (const user of ['ada', 'ben', 'cyd'])
        expect(await admin.zrange(`convs:${user}`, '0', '-1', 'WITHSCORES')).toEqual(['c1', '900'])
    }
    expect(await nextOffset(claimed)).toBe('101')
    expect(proxy.connections().length).toBeGreaterThan(5)
  })
})

describe('the two-step form', () => {
  it('[RED-14] [A7] a cut after some recipients were written: the checkpoint is where it was, the replay completes', async () => {
    const claimed = await throughProxy('two-step')
    proxy.program({ on: 'command', name: 'ZADD', command: 2, action: { kind: 'cut-before-reply' } })
    expect(await step(claimed, { from: 0, to: 1, write: sessions(5) })).toBe('TM_REDIS_CONNECTION_LOST')
    expect(await nextOffset(claimed)).toBe('0')
    expect(await admin.exists('convs:ada', 'convs:ben', 'convs:cyd')).toBe(2)
    expect(await step(claimed, { from: 0, to: 1, write: sessions(5) })).toBe('advanced')
    expect(await admin.exists('convs:ada', 'convs:ben', 'convs:cyd')).toBe(3)
  })
})

describe('a server exchanged behind an open connection', () => {
  it.each([
    ['two-step', 3],
    // More writes than one script holds, so that a later script could meet another server than the first.
    ['atomic', 2_100],
  ] as const)(
    '[RED-13] [RED-14] writes of a %s step confirmed by one process are not checkpointed on another',
    async (form, users) => {
      const claimed = await throughProxy(form)
      // The socket stays open while the server behind it is another one: the run id in the compare-and-set tells.
      const other = await startRedis()
      open.push(other)
      const front = await exchangeableFront()
      open.push(front)
      front.target(server.port)
      const store = openStore(`redis://127.0.0.1:${front.port}`, form, claimed.store.namespace)
      open.push(store)
      const far = { ...claimed, store }
      expect(await step(far, { from: 0, to: 1 })).toBe('advanced')
      await copyKeys(server, other)
      front.exchangeBefore('EVALSHA', other.port)
      const before = await fingerprint(admin, `${claimed.store.namespace}*`)
      expect(await step(far, { from: 1, to: 2, write: oneForEach(users) })).toBe('process-changed')
      expect(await fingerprint(admin, `${claimed.store.namespace}*`)).toBe(before)
      const there = await adminClient(other.url)
      expect(await there.hget(keysOf(claimed.store.namespace).checkpoint, 'next_offset')).toBe('1')
      there.disconnect()
    },
  )
})

/** One conversation for so many users. */
function oneForEach(users: number): (w: CommutingWriter) => void {
  return (w) => {
    for (let user = 0; user < users; user += 1) w.zadd(`convs:user${user}`, 'GT', 7, 'c1')
  }
}

/** A front that can exchange the server behind an open client connection, as a load balancer or proxy may. */
async function exchangeableFront(): Promise<{
  port: number
  target(port: number): void
  exchangeBefore(command: string, port: number): void
  close(): Promise<void>
}> {
  const { connect, createServer } = await import('node:net')
  let targetPort = 0
  let exchange: { command: string; port: number } | undefined
  const listener = createServer((client) => {
    let upstream = connect(targetPort, '127.0.0.1')
    const join = (): void => {
      upstream.on('data', (data) => client.write(data))
      upstream.on('error', () => undefined)
    }
    join()
    client.on('error', () => undefined)
    client.on('close', () => upstream.destroy())
    client.on('data', (data) => {
      if (exchange !== undefined && data.includes(exchange.command)) {
        upstream.removeAllListeners('data')
        upstream.destroy()
        upstream = connect(exchange.port, '127.0.0.1')
        exchange = undefined
        join()
      }
      upstream.write(data)
    })
  })
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  return {
    port: (listener.address() as { port: number }).port,
    target: (port) => void (targetPort = port),
    exchangeBefore: (command, port) => void (exchange = { command, port }),
    close: async () => void listener.close(),
  }
}

async function copyKeys(from: RedisServer, to: RedisServer): Promise<void> {
  const [source, target] = [await adminClient(from.url), await adminClient(to.url)]
  for (const key of await source.keys('*')) await target.restore(key, 0, (await source.dumpBuffer(key))!)
  source.disconnect()
  target.disconnect()
}

describe('reading', () => {
  it('[RED-2] [RED-6] a read cut anywhere rejects, and the next one is whole', async () => {
    const claimed = await throughProxy('atomic')
    for (const bytes of [1, 40, 200, 700]) {
      proxy.program({
        on: 'command',
        name: 'EVALSHA',
        command: 2,
        connection: proxy.connections().length + 1,
        action: { kind: 'cut-in-reply', bytes },
      })
      proxy.cutAll()
      await new Promise((resolve) => setTimeout(resolve, 30))
      await expect(claimed.store.read(readRequest)).rejects.toMatchObject({ code: 'TM_REDIS_CONNECTION_LOST' })
      proxy.clear()
      expect((await claimed.store.read(readRequest)).checkpoints.size).toBe(3)
    }
  })
})
