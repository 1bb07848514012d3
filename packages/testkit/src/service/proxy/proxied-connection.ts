import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ByteRule, CommandAction } from './cut-rules.ts'
import type { CutProgram } from './programmed-cut.ts'
import { commandNameOf, createRespFrameReader } from './resp-frames.ts'
import type { RespFrame } from './resp-frames.ts'

/** What one connection has carried. */
export interface ConnectionCounts {
  /** From 1, in the order of connecting. */
  readonly connection: number
  readonly open: boolean
  /** Names of the commands the client sent, in order, forwarded or not (RESP framing only). */
  readonly commands: readonly string[]
  /** Commands that were passed on to the server whole. */
  readonly forwarded: number
  /** Replies that were passed on to the client whole. */
  readonly replies: number
  readonly bytesToServer: number
  readonly bytesToClient: number
}

/** One client connection and its server connection. */
export interface ProxiedConnection {
  counts(): ConnectionCounts
  /** Resets both sides. */
  cut(): void
  /** Swallows both directions from now on, closing nothing. */
  silence(): void
}

/** What a connection needs from its proxy. */
export interface ProxiedConnectionOptions {
  readonly client: Socket
  readonly connection: number
  readonly target: { readonly host: string; readonly port: number }
  readonly framing: 'resp' | 'bytes'
  readonly program: CutProgram
  /** Starts silent: the proxy is playing dead. */
  readonly silent: boolean
}

/** Joins a client to the server and lets the program strike what passes. */
export function joinConnection(options: ProxiedConnectionOptions): ProxiedConnection {
  return new JoinedConnection(options)
}

const settleMs = 1_000
const serverLingerMs = 1_000
const deliveryGapMs = 5

class JoinedConnection implements ProxiedConnection {
  readonly #options: ProxiedConnectionOptions
  readonly #client: Socket
  readonly #server: Socket
  readonly #commands: string[] = []
  readonly #ofName = new Map<string, number>()
  readonly #awaited: (CommandAction | undefined)[] = []
  readonly #passed: Record<ByteRule['direction'], number> = { 'to-server': 0, 'to-client': 0 }
  #work: Promise<void> = Promise.resolve()
  /** The last write towards the client. */
  #delivering: Promise<void> = Promise.resolve()
  #forwarded = 0
  #replies = 0
  #open = true
  #silent: boolean
  /** Set once a rule has struck: later commands stay here. */
  #held = false

  constructor(options: ProxiedConnectionOptions) {
    this.#options = options
    this.#client = options.client
    this.#silent = options.silent
    this.#server = connect(options.target)
    for (const socket of [this.#client, this.#server]) socket.setNoDelay(true)
    this.#listen()
  }

  counts(): ConnectionCounts {
    return {
      connection: this.#options.connection,
      open: this.#open,
      commands: [...this.#commands],
      forwarded: this.#forwarded,
      replies: this.#replies,
      bytesToServer: this.#passed['to-server'],
      bytesToClient: this.#passed['to-client'],
    }
  }

  cut(): void {
    if (!this.#open) {
      // One side is gone; while silent, the other may still be held open, and nobody else ends it.
      this.#client.destroy()
      this.#server.destroy()
      return
    }
    this.#open = false
    this.#client.resetAndDestroy()
    // A polite end towards the server, so that it still reads every byte that was passed on to it.
    this.#server.end()
    setTimeout(() => this.#server.destroy(), serverLingerMs).unref()
  }

  silence(): void {
    this.#silent = true
  }

  #listen(): void {
    const { framing } = this.#options
    const requests = createRespFrameReader()
    const replies = createRespFrameReader()
    this.#client.on('data', (chunk) => {
      if (this.#silent || this.#held) return
      if (framing === 'bytes') return this.#then(() => this.#pass('to-server', chunk))
      for (const frame of requests.push(chunk)) this.#then(() => this.#request(frame))
    })
    this.#server.on('data', (chunk) => {
      if (this.#silent) return
      if (framing === 'bytes') return void this.#pass('to-client', chunk)
      for (const frame of replies.push(chunk)) this.#reply(frame)
    })
    // A side that ends politely ends the other politely; one that breaks breaks the other. A silent proxy hides both.
    for (const [side, other] of [
      [this.#client, this.#server],
      [this.#server, this.#client],
    ] as const) {
      side.on('end', () => this.#then(() => void (this.#silent || other.end())))
      side.on('error', () => void (this.#silent || !this.#open || other.resetAndDestroy()))
      side.on('close', () => {
        this.#open = !(this.#client.destroyed || this.#server.destroyed)
        if (side === this.#client && this.#open) this.#server.destroy()
      })
    }
  }

  /** One step after the other per connection, so that a delayed command holds those behind it. */
  #then(step: () => void | Promise<void>): void {
    this.#work = this.#work.then(step)
  }

  async #request(frame: RespFrame): Promise<void> {
    const name = commandNameOf(frame)
    const ofName = (this.#ofName.get(name) ?? 0) + 1
    this.#ofName.set(name, ofName)
    this.#commands.push(name)
    if (this.#silent || this.#held || !this.#open) return
    const { connection, program } = this.#options
    const action = program.takeForCommand({ connection, command: this.#commands.length, name, ofName })?.action
    switch (action?.kind) {
      case 'cut-before-forward':
        await this.#settle()
        return this.#cutAfterDelivery()
      case 'silence-before-forward':
        await this.#settle()
        return this.silence()
      case 'cut-in-request':
        this.#held = true
        await this.#settle()
        await this.#pass('to-server', frame.bytes.subarray(0, action.bytes))
        return this.#cutAfterDelivery()
      case 'delay':
        await sleep(action.delayMs)
        if (!this.#open || this.#silent) return
        break
      default:
        this.#held = action !== undefined
    }
    this.#awaited.push(action)
    await this.#pass('to-server', frame.bytes)
    this.#forwarded += 1
  }

  #reply(frame: RespFrame): void {
    if (this.#silent || !this.#open) return
    // A RESP3 push answers no command.
    const action = frame.kind === '>' ? undefined : this.#awaited.shift()
    switch (action?.kind) {
      case 'cut-before-reply':
        this.#silent = true
        return void this.#cutAfterDelivery()
      case 'silence-before-reply':
        return this.silence()
      case 'cut-in-reply':
        this.#delivering = this.#pass('to-client', frame.bytes.subarray(0, action.bytes))
        this.#silent = true
        return void this.#cutAfterDelivery()
      default:
        if (frame.kind !== '>') this.#replies += 1
        this.#delivering = this.#pass('to-client', frame.bytes)
    }
  }

  /** Waits until every forwarded command is answered, so that a strike leaves an exact state; a blocked command does not hold it for ever. */
  async #settle(): Promise<void> {
    const deadline = performance.now() + settleMs
    while (this.#awaited.length > 0 && this.#open && performance.now() < deadline) await sleep(1)
    await this.#delivering
  }

  /** A reset that arrives together with data is shown to Node programs as a polite end; the gap keeps it a reset. */
  async #cutAfterDelivery(): Promise<void> {
    await this.#delivering
    await sleep(deliveryGapMs)
    this.cut()
  }

  /** Forwards bytes unless a byte rule strikes among them; resolves when they are handed to the system. */
  async #pass(direction: ByteRule['direction'], bytes: Buffer): Promise<void> {
    const { connection, program } = this.#options
    const flow = { connection, direction, passed: this.#passed[direction] }
    const struck = program.takeForBytes(flow, bytes.length)
    const allowed = struck === undefined ? bytes : bytes.subarray(0, struck.pass)
    this.#passed[direction] += allowed.length
    if (struck !== undefined) this.#silent = true
    const socket = direction === 'to-server' ? this.#server : this.#client
    if (struck !== undefined && direction === 'to-server') this.#held = true
    if (allowed.length > 0 && !socket.destroyed) {
      await new Promise<void>((resolve) => socket.write(allowed, () => resolve()))
    }
    if (struck?.rule.action !== 'cut') return
    await sleep(deliveryGapMs)
    this.cut()
  }
}
