import { connect, createServer } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'

/** One address behind which the server can be exchanged, as a name service or a virtual address does. */
export interface SwitchableAddress {
  readonly port: number
  /** Where connections lead from here on; those that are open stay where they are. */
  switchTo(port: number): void
  close(): Promise<void>
}

/** An address on 127.0.0.1 that leads to a port. */
export async function openSwitchableAddress(first: number): Promise<SwitchableAddress> {
  let port = first
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const target = connect({ host: '127.0.0.1', port })
    for (const [side, other] of [
      [client, target],
      [target, client],
    ] as const) {
      sockets.add(side)
      side.on('error', () => other.destroy())
      side.on('close', () => {
        sockets.delete(side)
        other.destroy()
      })
      side.pipe(other)
    }
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, resolve)
  })
  return {
    port: (server.address() as AddressInfo).port,
    switchTo(next) {
      port = next
    },
    async close() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
