import { createServer } from 'node:net'
import type { AddressInfo, Server } from 'node:net'

/**
 * Ports on 127.0.0.1 that nothing listens on.
 *
 * Promises: the ports of one call differ from each other, since all are held until the last is known. Another process can
 * still take one afterwards; a starter reports that as a service that died, with its log.
 */
export async function freePorts(count: number): Promise<number[]> {
  const held: Server[] = []
  try {
    for (let index = 0; index < count; index += 1) held.push(await listenAnywhere())
    return held.map((server) => (server.address() as AddressInfo).port)
  } finally {
    await Promise.all(held.map((server) => new Promise((resolve) => server.close(resolve))))
  }
}

function listenAnywhere(): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, () => resolve(server))
  })
}
