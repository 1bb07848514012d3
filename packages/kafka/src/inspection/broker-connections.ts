import { isIP } from 'node:net'
import { messageOf, systemClock } from '@tidemark/core'
import type { Connection } from '@platformatic/kafka'
import { loadInspectorClient } from '../client-packages.ts'
import type { InspectorClient } from '../client-packages.ts'
import { addressText } from '../connection-options.ts'
import type { BrokerAddress, CheckedConnection } from '../connection-options.ts'
import { inspectorSecurity, secretsRemover } from '../security.ts'

/** Takes a request's outcome, as the inspecting client's API functions give it. */
export type AnswerCallback<T> = (error: Error | null, answer?: T) => void

/** An open connection to one broker, and which versions of each API it speaks. */
export interface BrokerLink {
  readonly client: InspectorClient
  readonly connection: Connection
  /** The newest version of an API among those offered that the broker speaks, or `undefined`. */
  newest<V extends number>(apiKey: number, offered: readonly V[]): V | undefined
}

/** Why a broker gave no answer at all. */
export type SilenceReason = 'timeout' | 'unreachable' | 'authorization' | 'unsupported' | 'malformed'

/** What one exchange with one broker brought. */
export type Exchange<T> =
  | { readonly kind: 'answer'; readonly answer: T }
  | { readonly kind: 'silence'; readonly reason: SilenceReason; readonly message: string }

/** Sends one request over a link. */
export type Send<T> = (link: BrokerLink, done: AnswerCallback<T>) => void

/** Connections to brokers, opened when first needed, kept open between inspections, replaced after a loss. */
export interface BrokerConnections {
  /**
   * Sends one request to one broker. Settles by the deadline and never rejects.
   *
   * A connection that let a deadline pass is dropped: an answer that comes late would be read as the next one.
   */
  exchange<T>(address: BrokerAddress, deadlineMs: number, send: Send<T>): Promise<Exchange<T>>
  close(): Promise<void>
}

interface Slot {
  readonly link: Promise<BrokerLink>
  /** Resolves when requests may be sent; at once, except while a login is being renewed. */
  readonly usable: () => Promise<void>
  readonly drop: (why: string) => void
}

/** Opens no connection yet. Promises: KAF-8. */
export function newBrokerConnections(connection: CheckedConnection): BrokerConnections {
  const clean = secretsRemover(connection.security)
  const slots = new Map<string, Slot>()
  let closed = false

  const slotOf = (address: BrokerAddress): { readonly slot: Slot; readonly reused: boolean } => {
    const key = addressText(address)
    const existing = slots.get(key)
    if (existing !== undefined) return { slot: existing, reused: true }
    const slot = openSlot(connection, address, () => {
      if (slots.get(key) === slot) slots.delete(key)
    })
    slots.set(key, slot)
    return { slot, reused: false }
  }

  const attempt = async <T>(
    slot: Slot,
    address: BrokerAddress,
    deadlineMs: number,
    send: Send<T>,
  ): Promise<Exchange<T>> => {
    const outcome = await race(deadlineMs, async () => {
      const link = await slot.link
      await slot.usable()
      return new Promise<T>((resolve, reject) => {
        send(link, (error, answer) => (error === null ? resolve(answer as T) : reject(error)))
      })
    })
    if (outcome.kind === 'value') return { kind: 'answer', answer: outcome.value }
    const where = addressText(address)
    if (outcome.kind === 'expired') {
      slot.drop('deadline passed')
      return { kind: 'silence', reason: 'timeout', message: `${where} did not answer in ${Math.round(deadlineMs)} ms` }
    }
    const { reason, message } = silenceOf(outcome.error)
    // A refused version says nothing against the connection; after anything else its state is unknown.
    if (reason !== 'unsupported') slot.drop('request failed')
    return { kind: 'silence', reason, message: `${where}: ${clean(message)}` }
  }

  return {
    async exchange<T>(address: BrokerAddress, deadlineMs: number, send: Send<T>): Promise<Exchange<T>> {
      const until = systemClock.monotonicMs() + deadlineMs
      for (;;) {
        if (closed) return { kind: 'silence', reason: 'unreachable', message: 'the inspector was closed' }
        const { slot, reused } = slotOf(address)
        const remainingMs = Math.max(0, until - systemClock.monotonicMs())
        const exchange = await attempt(slot, address, remainingMs, send)
        // A kept connection that the broker had closed says nothing about the broker; requests here only read.
        if (exchange.kind === 'silence' && exchange.reason === 'unreachable' && reused) continue
        return exchange
      }
    },
    async close() {
      closed = true
      for (const slot of [...slots.values()]) slot.drop('closed')
      slots.clear()
    },
  }
}

type Outcome<T> =
  | { readonly kind: 'value'; readonly value: T }
  | { readonly kind: 'error'; readonly error: unknown }
  | { readonly kind: 'expired' }

async function race<T>(deadlineMs: number, act: () => Promise<T>): Promise<Outcome<T>> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve({ kind: 'expired' }), Math.max(0, deadlineMs))
    const settle = (outcome: Outcome<T>): void => {
      clearTimeout(timer)
      resolve(outcome)
    }
    act().then(
      (value) => settle({ kind: 'value', value }),
      (error: unknown) => settle({ kind: 'error', error }),
    )
  })
}

function openSlot(connection: CheckedConnection, address: BrokerAddress, onDropped: () => void): Slot {
  let raw: Connection | undefined
  let dropped = false
  const drop = (why: string): void => {
    if (dropped) return
    dropped = true
    onDropped()
    if (raw !== undefined) destroy(raw, why)
  }
  const open = async (): Promise<BrokerLink> => {
    const client = await loadInspectorClient()
    if (dropped) throw new Error('dropped before it was opened')
    raw = newConnection(client, connection, address)
    // Without a listener a lost connection would end the process.
    raw.on('error', () => drop('connection error'))
    raw.on('close', () => drop('connection closed'))
    const { host, port } = address
    await new Promise<void>((resolve, reject) => {
      void raw!.connect(host, port, (error) => (error === null || error === undefined ? resolve() : reject(error)))
    })
    const versions = await apiVersions(client, raw)
    return {
      client,
      connection: raw,
      newest: (apiKey, offered) => {
        const range = versions.get(apiKey)
        if (range === undefined) return undefined
        return [...offered].sort((a, b) => b - a).find((version) => version >= range.min && version <= range.max)
      },
    }
  }
  const link = open()
  link.catch(() => drop('could not be opened'))
  return { link, usable: untilRenewed(() => raw), drop }
}

/**
 * The client goes on sending while it renews a login, and a broker refuses whatever comes in the middle of that and hangs
 * up. Many requests may wait for one renewal. Source: KIP-368.
 */
function untilRenewed(connection: () => Connection | undefined): () => Promise<void> {
  let renewal: Promise<void> | undefined
  return async () => {
    // More than one look: a session may be shorter than the wait for it.
    for (let raw = connection(); raw?.status === 'reauthenticating'; raw = connection()) {
      renewal ??= raw.ready().finally(() => (renewal = undefined))
      await renewal
    }
  }
}

function newConnection(client: InspectorClient, connection: CheckedConnection, address: BrokerAddress): Connection {
  const { connectTimeoutMs, security, clientName } = connection
  const { tls, sasl } = inspectorSecurity(security)
  return new client.Connection(clientName, {
    connectTimeout: connectTimeoutMs,
    // Deadlines are kept by `exchange`; this only bounds what it no longer waits for.
    requestTimeout: 120_000,
    maxInflights: 64,
    ...(tls === undefined ? {} : { tls: { ...tls } }),
    // Server name indication takes names only.
    ...(tls === undefined || isIP(address.host) !== 0 ? {} : { tlsServerName: address.host }),
    ...(sasl === undefined ? {} : { sasl: { ...sasl } }),
  })
}

async function apiVersions(
  client: InspectorClient,
  connection: Connection,
): Promise<ReadonlyMap<number, { readonly min: number; readonly max: number }>> {
  const answer = await client.apiVersionsV3.api.async(connection, 'tidemark', '0')
  return new Map(
    answer.apiKeys.map(({ apiKey, minVersion, maxVersion }) => [apiKey, { min: minVersion, max: maxVersion }]),
  )
}

function destroy(raw: Connection, why: string): void {
  try {
    // Ends the client's own timers, also the one that renews a login; then the socket, which `close` only half closes.
    raw.close(() => undefined)
  } catch {
    // A connection in a state that cannot be closed has nothing left to release but its socket.
  }
  const socket = raw.socket as Connection['socket'] | undefined
  if (socket === undefined) return
  socket.on('error', () => undefined)
  socket.destroy(new Error(why))
}

/** Where the inspecting client keeps what a failed exchange means. */
interface ClientFault {
  readonly code?: string
  readonly apiId?: string
  readonly message?: string
  readonly cause?: unknown
  readonly errors?: readonly unknown[]
}

function silenceOf(error: unknown): { readonly reason: SilenceReason; readonly message: string } {
  const chain = faultChain(error)
  const message = chain.map((fault) => messageOf(fault)).join(': ')
  const has = (code: string): boolean => chain.some((fault) => fault.code === code || fault.apiId === code)
  if (has('PLT_KFK_AUTHENTICATION') || has('SASL_AUTHENTICATION_FAILED')) return { reason: 'authorization', message }
  if (has('UNSUPPORTED_VERSION') || has('PLT_KFK_UNSUPPORTED_API')) return { reason: 'unsupported', message }
  if (has('PLT_KFK_TIMEOUT')) return { reason: 'timeout', message }
  if (has('PLT_KFK_NETWORK')) return { reason: 'unreachable', message }
  const network = chain.some((fault) => /^E[A-Z]+$/.test(fault.code ?? ''))
  return { reason: network ? 'unreachable' : 'malformed', message }
}

function faultChain(error: unknown): readonly ClientFault[] {
  const chain: ClientFault[] = []
  const visit = (fault: unknown): void => {
    if (typeof fault !== 'object' || fault === null || chain.length >= 10) return
    chain.push(fault)
    const { cause, errors } = fault as ClientFault
    for (const inner of errors ?? []) visit(inner)
    visit(cause)
  }
  visit(error)
  return chain
}
