import type { AddressInfo, Server, Socket } from 'node:net'
import { createServer } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { newBrokerConnections } from '../src/inspection/broker-connections.ts'
import { checkConnection } from '../src/connection-options.ts'
import { createKafkaInspector } from '../src/index.ts'
import { askMetadata } from '../src/inspection/topic-metadata.ts'

const servers: Server[] = []
const sockets = new Set<Socket>()

/** A listener that behaves as told, on a port of its own. */
async function listener(behave: (socket: Socket) => void): Promise<{ readonly host: string; readonly port: number }> {
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => undefined)
    behave(socket)
  })
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { host: '127.0.0.1', port: (server.address() as AddressInfo).port }
}

afterEach(async () => {
  for (const socket of sockets) socket.destroy()
  await Promise.all(servers.splice(0).map((server) => new Promise((resolve) => server.close(resolve))))
})

const connection = checkConnection({ brokers: ['127.0.0.1:1'] })

describe('connections to brokers', () => {
  it.each([
    ['accepts and says nothing', () => undefined, ['timeout']],
    ['hangs up at once', (socket: Socket) => socket.destroy(), ['unreachable']],
    ['hangs up after the request', (socket: Socket) => socket.once('data', () => socket.destroy()), ['unreachable']],
    [
      'answers with noise',
      (socket: Socket) => socket.once('data', () => socket.write(Buffer.alloc(64, 7))),
      ['timeout', 'unreachable', 'malformed'],
    ],
    [
      'speaks HTTP',
      (socket: Socket) => socket.write('HTTP/1.1 400 Bad Request\r\n\r\n'),
      ['timeout', 'unreachable', 'malformed'],
    ],
  ])('[KAF-8] a listener that %s is silence within the deadline, twice', async (_name, behave, reasons) => {
    const address = await listener(behave)
    const connections = newBrokerConnections(connection)
    // The client's code is loaded outside the deadline.
    await import('@platformatic/kafka')
    for (let round = 0; round < 2; round += 1) {
      const before = performance.now()
      const exchange = await connections.exchange(address, 500, askMetadata('t'))
      expect(exchange).toMatchObject({ kind: 'silence' })
      expect(reasons).toContain(exchange.kind === 'silence' && exchange.reason)
      expect(performance.now() - before).toBeLessThan(1500)
    }
    await connections.close()
    expect(await connections.exchange(address, 500, askMetadata('t'))).toMatchObject({ reason: 'unreachable' })
  })

  it('[KAF-7] an inspector over such listeners settles and closes', async () => {
    const mute = await listener(() => undefined)
    const inspector = createKafkaInspector({ brokers: [`127.0.0.1:${mute.port}`] })
    const limits = { deadlineMs: 300 }
    expect((await inspector.surveyIdentity('t', limits)).answers).toMatchObject([{ statement: { reason: 'timeout' } }])
    expect(await inspector.readBounds('t', 1, limits)).toMatchObject({ kind: 'unreadable' })
    expect(await inspector.readSettings('t', limits)).toMatchObject({ kind: 'unreadable' })
    await inspector.close()
  })
})
