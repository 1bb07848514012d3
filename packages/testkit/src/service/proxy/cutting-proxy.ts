import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { CutRule } from './cut-rules.ts'
import { createCutProgram } from './programmed-cut.ts'
import type { ProgrammedCut } from './programmed-cut.ts'
import { joinConnection } from './proxied-connection.ts'
import type { ConnectionCounts, ProxiedConnection } from './proxied-connection.ts'

/** What to stand in front of. */
export interface CuttingProxyOptions {
  readonly target: { readonly host: string; readonly port: number }
  /** `resp` knows Redis commands and replies; `bytes` only counts bytes. */
  readonly framing: 'resp' | 'bytes'
}

/** A TCP proxy on 127.0.0.1 that breaks connections exactly where a test says. */
export interface CuttingProxy {
  readonly host: string
  readonly port: number
  /** Programs a fault; the first matching rule, in the order of programming, strikes. */
  program(rule: CutRule): ProgrammedCut
  /** Takes every programmed fault back. */
  clear(): void
  /** Resets every open connection now. */
  cutAll(): void
  /** Half-open for all: present and new connections are kept open and nothing passes. */
  silence(): void
  /** New connections are reset at once. */
  refuse(): void
  /** Ends `silence` and `refuse` for new connections; silenced ones stay silent. */
  pass(): void
  /** Every connection ever made, in order. */
  connections(): readonly ConnectionCounts[]
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Starts a proxy in front of a server.
 *
 * Order: commands of one connection pass in order; a struck command is the last one the server sees of that connection.
 */
export async function createCuttingProxy(options: CuttingProxyOptions): Promise<CuttingProxy> {
  const program = createCutProgram()
  const joined: ProxiedConnection[] = []
  let mode: 'pass' | 'silence' | 'refuse' = 'pass'
  // Half-open must hold from both ends: a client that ends its side gets no answer to that either.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => {})
    if (mode === 'refuse') return void client.resetAndDestroy()
    const { target, framing } = options
    const silent = mode === 'silence'
    joined.push(joinConnection({ client, connection: joined.length + 1, target, framing, program, silent }))
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port: 0 }, resolve)
  })
  const cutAll = (): void => {
    for (const connection of joined) if (connection.counts().open) connection.cut()
  }
  const close = async (): Promise<void> => {
    for (const connection of joined) connection.cut()
    if (server.listening) await new Promise((resolve) => server.close(resolve))
  }
  return {
    host: '127.0.0.1',
    port: (server.address() as AddressInfo).port,
    program: (rule) => program.add(rule),
    clear: () => program.clear(),
    cutAll,
    silence() {
      mode = 'silence'
      for (const connection of joined) connection.silence()
    },
    refuse() {
      mode = 'refuse'
    },
    pass() {
      mode = 'pass'
    },
    connections: () => joined.map((connection) => connection.counts()),
    close,
    [Symbol.asyncDispose]: close,
  }
}
