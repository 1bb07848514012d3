import type { TidemarkError } from '@tidemark/core'
import { isTidemarkError, messageOf } from '@tidemark/core'
import type { Redis } from 'ioredis'
import { redisErrors } from '../errors.ts'
import type { SlotRange } from './cluster-topology.ts'
import type { LuaScript } from './lua-script.ts'
import { failureOf, isScriptMissing } from './redis-failure.ts'
import { arrayReply, malformed } from './reply-shape.ts'
import type { SafeRedisSource } from './safe-redis.ts'
import { readServerFacts } from './server-facts.ts'
import type { ServerFacts } from './server-facts.ts'

/** One command. A script stands for EVALSHA, with the whole text sent where the server does not know it. */
export type RedisCommand =
  | { readonly name: string; readonly args: readonly string[]; readonly key?: string }
  | { readonly script: LuaScript; readonly keys: readonly string[]; readonly args: readonly string[] }

/**
 * One unbroken connection to one server process.
 *
 * It is never reopened: whoever holds the same link has been talking to the same socket all the time.
 */
export interface RedisLink {
  /** As last read; {@link RedisLink.readFacts} renews it. */
  readonly facts: ServerFacts
  /** True for ever once the socket closed, a deadline passed or {@link RedisLink.destroy} was called. */
  readonly isLost: boolean
  /** One command; rejects with a typed error. */
  send(operation: string, command: RedisCommand): Promise<unknown>
  /** Several commands in one round trip; rejects unless every single one was answered without an error. */
  sendAll(operation: string, commands: readonly RedisCommand[]): Promise<readonly unknown[]>
  /** The run id of the process that holds a key. */
  runIdOf(key: string): string
  /** Of each primary of a cluster, the slots it serves; absent where there is one server. */
  readonly shards?: readonly (readonly SlotRange[])[]
  /** Asks the server again; a lease must not be answered from memory. */
  readFacts(): Promise<ServerFacts>
  /** Drops the connection; whatever is in flight rejects. */
  destroy(): void
}

/**
 * Opens a connection and asks the server who it is.
 *
 * @throws {TidemarkError} TM_REDIS_CONNECT_FAILED, TM_REDIS_AUTH_FAILED, TM_REDIS_CLUSTER_UNSUPPORTED, or what a probe raised.
 */
export async function openRedisLink(named: SafeRedisSource, mode: 'standalone' | 'cluster'): Promise<RedisLink> {
  const source = (await named.locate?.()) ?? named
  const client = source.newClient()
  const faults: unknown[] = []
  // Without a listener the client prints to the console; the first fault is the telling one.
  client.on('error', (fault) => void faults.push(fault))
  try {
    await connectWithin(client, source.connectTimeoutMs)
  } catch (thrown) {
    client.disconnect()
    throw connectFailure(source, faults[0] ?? thrown)
  }
  const link = new SocketLink(source, client)
  try {
    await link.probe(mode)
  } catch (thrown) {
    link.destroy()
    // Version 5 is ready before the server has judged the credentials; the verdict then comes as the first fault.
    const wasCutOff = isTidemarkError(thrown, 'TM_REDIS_CONNECTION_LOST') && faults.length > 0
    throw wasCutOff ? connectFailure(source, faults[0]) : thrown
  }
  return link
}

/** Connects, or rejects in time. */
export function connectWithin(client: Redis, timeoutMs: number): Promise<void> {
  // The client's own time-out ends with the TCP handshake; a server that accepts and stays silent would never end it.
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`no connection within ${timeoutMs} ms`)), timeoutMs)
    client
      .connect()
      .then(resolve, reject)
      .finally(() => clearTimeout(timer))
  })
}

/** Tells a server that was not reached from one that refused us. */
function connectFailure(source: SafeRedisSource, thrown: unknown): TidemarkError {
  const failure = failureOf(source, { operation: 'connect', command: 'AUTH', key: '' }, thrown)
  const isUnreached = ['TM_REDIS_CONNECTION_LOST', 'TM_REDIS_TIMEOUT', 'TM_REDIS_COMMAND_FAILED'].includes(failure.code)
  if (!isUnreached) return failure
  const reason = source.redact(messageOf(thrown)).slice(0, 300)
  return redisErrors.create('TM_REDIS_CONNECT_FAILED', { address: source.address, reason }, { cause: failure.cause })
}

class SocketLink implements RedisLink {
  readonly #source: SafeRedisSource
  readonly #client: Redis
  #facts: ServerFacts | undefined
  #appendFsync: string | undefined
  #lost = false

  constructor(source: SafeRedisSource, client: Redis) {
    this.#source = source
    this.#client = client
    const lose = (): void => void (this.#lost = true)
    client.on('close', lose)
    client.on('end', lose)
  }

  get facts(): ServerFacts {
    if (this.#facts === undefined) throw malformed('connect', 'the facts of the server', undefined)
    return this.#facts
  }

  get isLost(): boolean {
    return this.#lost
  }

  runIdOf(): string {
    return this.facts.runId
  }

  destroy(): void {
    this.#lost = true
    this.#client.disconnect()
  }

  async probe(mode: 'standalone' | 'cluster'): Promise<void> {
    this.#appendFsync = await this.#readAppendFsync()
    const facts = await this.readFacts()
    const { address } = this.#source
    if (facts.isCluster && mode === 'standalone') throw redisErrors.create('TM_REDIS_CLUSTER_UNSUPPORTED', { address })
    if (!facts.isCluster && mode === 'cluster') throw redisErrors.create('TM_REDIS_CLUSTER_EXPECTED', { address })
  }

  async readFacts(): Promise<ServerFacts> {
    const commands = [
      { name: 'INFO', args: [] },
      { name: 'CLIENT', args: ['INFO'] },
    ]
    const [info, clientInfo] = await this.sendAll('read server facts', commands)
    this.#facts = readServerFacts(info, clientInfo, this.#appendFsync)
    return this.#facts
  }

  async send(operation: string, command: RedisCommand): Promise<unknown> {
    try {
      return await this.#call(command, false)
    } catch (thrown) {
      if (!('script' in command) || !isScriptMissing(thrown)) throw this.#fail(operation, command, thrown)
    }
    try {
      // The server answered NOSCRIPT before running anything, so the text runs for the first time.
      return await this.#call(command, true)
    } catch (thrown) {
      throw this.#fail(operation, command, thrown)
    }
  }

  async sendAll(operation: string, commands: readonly RedisCommand[]): Promise<readonly unknown[]> {
    if (commands.length === 0) return []
    const answers = await this.#pipeline(operation, commands, () => false)
    const missing = answers.map(([error]) => error !== null && error !== undefined && isScriptMissing(error))
    if (missing.includes(true)) {
      // Only what did not run is sent again, now with its text; the other answers stand.
      const again = commands.filter((_, index) => missing[index])
      const repeated = await this.#pipeline(operation, again, () => true)
      let next = 0
      missing.forEach((isMissing, index) => {
        if (isMissing) answers[index] = repeated[next++]!
      })
    }
    return answers.map(([error, reply], index) => {
      if (error !== null && error !== undefined) throw this.#fail(operation, commands[index]!, error)
      return reply
    })
  }

  async #pipeline(
    operation: string,
    commands: readonly RedisCommand[],
    asText: () => boolean,
  ): Promise<[unknown, unknown][]> {
    const pipeline = this.#client.pipeline()
    for (const command of commands) pipeline.call(...wireForm(command, asText()))
    let answers: unknown
    try {
      answers = await pipeline.exec()
    } catch (thrown) {
      throw this.#fail(operation, commands[0]!, thrown)
    }
    return checkedAnswers(operation, answers, commands.length)
  }

  #call(command: RedisCommand, asText: boolean): Promise<unknown> {
    return this.#client.call(...wireForm(command, asText))
  }

  #fail(operation: string, command: RedisCommand, thrown: unknown): TidemarkError {
    const site =
      'script' in command
        ? { operation, command: `script ${command.script.name}`, key: command.keys[0] ?? '' }
        : { operation, command: command.name, key: command.key ?? '' }
    const failure = failureOf(this.#source, site, thrown)
    // After a lost or late answer nobody knows what ran; nothing more goes over this connection.
    if (failure.code === 'TM_REDIS_CONNECTION_LOST' || failure.code === 'TM_REDIS_TIMEOUT') this.destroy()
    return failure
  }

  async #readAppendFsync(): Promise<string | undefined> {
    try {
      const reply = await this.send('read server facts', { name: 'CONFIG', args: ['GET', 'appendfsync'] })
      return Array.isArray(reply) && typeof reply[1] === 'string' ? reply[1] : undefined
    } catch (thrown) {
      // Providers block CONFIG; that only costs the stronger durability. A broken connection shows in the next command.
      void thrown
      return undefined
    }
  }
}

/** The answers of a pipeline: one pair for every command, or the whole is refused. Promises: RED-6. */
export function checkedAnswers(operation: string, answers: unknown, count: number): [unknown, unknown][] {
  return arrayReply(operation, answers, count).map((answer) => {
    // The client leaves the value out of a failed pair.
    const isPair = Array.isArray(answer) && (answer.length === 2 || (answer.length === 1 && answer[0] instanceof Error))
    if (!isPair) throw malformed(operation, 'an error-reply pair per command', answer)
    const [error, reply] = answer as [unknown, unknown]
    if (error !== null && error !== undefined && !(error instanceof Error)) {
      throw malformed(operation, 'an error or nil', error)
    }
    return [error, reply]
  })
}

/** What is sent: the command, or a script by digest or by text with its keys declared. */
function wireForm(command: RedisCommand, asText: boolean): [string, string[]] {
  if (!('script' in command)) return [command.name, command.args as string[]]
  const { script, keys, args } = command
  const head = asText ? script.text : script.sha
  return [asText ? 'EVAL' : 'EVALSHA', [head, String(keys.length), ...keys, ...args]]
}
