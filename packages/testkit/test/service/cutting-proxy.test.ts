import { createServer, connect } from 'node:net'
import type { AddressInfo, Server, Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { createCuttingProxy } from '@tidemark/testkit/service'
import type { CommandAction, CuttingProxy, CutRule } from '@tidemark/testkit/service'
import { commandNameOf, createRespFrameReader } from '../../src/service/proxy/resp-frames.ts'

const ends: (() => Promise<unknown>)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

/** A server that answers every command with its name and remembers what it executed. */
async function startNameServer(): Promise<{ port: number; executed: string[] }> {
  const executed: string[] = []
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    const reader = createRespFrameReader()
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const frame of reader.push(chunk)) {
        executed.push(commandNameOf(frame))
        socket.write(`$${commandNameOf(frame).length}\r\n${commandNameOf(frame)}\r\n`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  ends.push(() => {
    sockets.forEach((socket) => socket.destroy())
    return new Promise((resolve) => server.close(resolve))
  })
  return { port: (server.address() as AddressInfo).port, executed }
}

async function setUp(framing: 'resp' | 'bytes' = 'resp'): Promise<{ proxy: CuttingProxy; executed: string[] }> {
  const { port, executed } = await startNameServer()
  const proxy = await createCuttingProxy({ target: { host: '127.0.0.1', port }, framing })
  ends.push(() => proxy.close())
  return { proxy, executed }
}

interface Outcome {
  readonly received: string
  readonly end: 'reset' | 'closed' | 'open'
}

/** Sends lines at once and tells what came back until the connection ends or stays quiet. */
function talk(port: number, lines: readonly string[], quietMs = 250): Promise<Outcome> {
  return new Promise((resolve) => {
    let received = ''
    const socket = connect({ host: '127.0.0.1', port })
    const finish = (end: Outcome['end']): void => {
      resolve({ received, end })
      socket.destroy()
    }
    let timer = setTimeout(() => finish('open'), quietMs)
    socket.on('connect', () => socket.write(lines.map((line) => `${line}\r\n`).join('')))
    socket.on('data', (data) => {
      received += data.toString()
      clearTimeout(timer)
      timer = setTimeout(() => finish('open'), quietMs)
    })
    socket.on('error', (error: NodeJS.ErrnoException) => finish(error.code === 'ECONNRESET' ? 'reset' : 'closed'))
    socket.on('close', () => finish('closed'))
  })
}

const onSecond = (action: CommandAction): CutRule => ({ on: 'command', command: 2, action })
const three = ['ONE', 'TWO', 'THREE']
const first = '$3\r\nONE\r\n'

describe('createCuttingProxy', () => {
  it('passes everything when nothing is programmed, and counts it', async () => {
    const { proxy, executed } = await setUp()
    expect(await talk(proxy.port, three)).toEqual({ received: `${first}$3\r\nTWO\r\n$5\r\nTHREE\r\n`, end: 'open' })
    expect(executed).toEqual(three)
    expect(proxy.connections()).toMatchObject([
      { connection: 1, commands: three, forwarded: 3, replies: 3, bytesToServer: 17, bytesToClient: 29 },
    ])
  })

  it.each<[CommandAction, string, string[], Outcome['end']]>([
    [{ kind: 'cut-before-forward' }, first, ['ONE'], 'reset'],
    [{ kind: 'cut-in-request', bytes: 2 }, first, ['ONE'], 'reset'],
    [{ kind: 'cut-before-reply' }, first, ['ONE', 'TWO'], 'reset'],
    [{ kind: 'cut-in-reply', bytes: 5 }, `${first}$3\r\nT`, ['ONE', 'TWO'], 'reset'],
    [{ kind: 'silence-before-forward' }, first, ['ONE'], 'open'],
    [{ kind: 'silence-before-reply' }, first, ['ONE', 'TWO'], 'open'],
  ])('strikes the second of three pipelined commands: %j', async (action, received, executed, end) => {
    const world = await setUp()
    const cut = world.proxy.program(onSecond(action))
    const outcome = await talk(world.proxy.port, three)
    await cut.struck
    expect(world.executed).toEqual(executed)
    expect(outcome).toEqual({ received, end })
  })

  it('delivers the replies before the struck one when the client waits for each', async () => {
    const { proxy, executed } = await setUp()
    proxy.program(onSecond({ kind: 'cut-before-reply' }))
    const socket = connect({ host: '127.0.0.1', port: proxy.port })
    socket.write('ONE\r\n')
    const reply = await new Promise((resolve) => socket.once('data', (data) => resolve(data.toString())))
    const error = new Promise((resolve) => socket.once('error', (cause: NodeJS.ErrnoException) => resolve(cause.code)))
    socket.write('TWO\r\n')
    expect([reply, await error]).toEqual([first, 'ECONNRESET'])
    expect(executed).toEqual(['ONE', 'TWO'])
  })

  it('counts by name and by connection, strikes once, and again only when told to repeat', async () => {
    const { proxy, executed } = await setUp()
    const byName = proxy.program({
      on: 'command',
      command: 2,
      name: 'set',
      connection: 2,
      action: { kind: 'cut-before-forward' },
    })
    expect((await talk(proxy.port, ['SET a', 'GET a', 'SET b'])).end).toBe('open')
    expect((await talk(proxy.port, ['SET a', 'GET a', 'SET b'])).end).toBe('reset')
    expect((await talk(proxy.port, ['SET a', 'GET a', 'SET b'])).end).toBe('open')
    expect(byName.strikes()).toBe(1)
    expect(executed).toEqual(['SET', 'GET', 'SET', 'SET', 'GET', 'SET', 'GET', 'SET'])
    const always = proxy.program({ on: 'command', command: 1, action: { kind: 'cut-before-forward' }, repeat: true })
    expect((await talk(proxy.port, ['A'])).end).toBe('reset')
    expect((await talk(proxy.port, ['A'])).end).toBe('reset')
    expect(always.strikes()).toBe(2)
    always.remove()
    expect((await talk(proxy.port, ['A'])).end).toBe('open')
  })

  it('delays a command and those behind it', async () => {
    const { proxy, executed } = await setUp()
    proxy.program(onSecond({ kind: 'delay', delayMs: 150 }))
    const talking = talk(proxy.port, three)
    await sleep(75)
    expect(executed).toEqual(['ONE'])
    expect((await talking).received).toBe(`${first}$3\r\nTWO\r\n$5\r\nTHREE\r\n`)
  })

  it.each(['resp', 'bytes'] as const)('cuts after a number of bytes either way (%s)', async (framing) => {
    const { proxy, executed } = await setUp(framing)
    proxy.program({ on: 'bytes', direction: 'to-server', bytes: 7, action: 'cut' })
    expect((await talk(proxy.port, three)).end).toBe('reset')
    await expect.poll(() => executed).toEqual(['ONE'])
    expect(proxy.connections()[0]).toMatchObject({ bytesToServer: 7 })
    proxy.program({ on: 'bytes', direction: 'to-client', bytes: 11, action: 'silence' })
    expect(await talk(proxy.port, three)).toEqual({ received: `${first}$3`, end: 'open' })
  })

  it('plays dead, refuses, cuts all, and recovers for new connections', async () => {
    const { proxy, executed } = await setUp()
    proxy.silence()
    expect(await talk(proxy.port, three)).toEqual({ received: '', end: 'open' })
    proxy.refuse()
    expect((await talk(proxy.port, three)).end).not.toBe('open')
    expect(executed).toEqual([])
    proxy.pass()
    const talking = talk(proxy.port, three, 1_000)
    await sleep(100)
    proxy.cutAll()
    expect((await talking).end).toBe('reset')
    expect(executed).toEqual(three)
    expect(proxy.connections().every((connection) => !connection.open)).toBe(true)
  })
})
