import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { checkConnection } from '../src/connection-options.ts'
import type { ConfluentAdmin, ConfluentClient, ConfluentConsumer } from '../src/reading/confluent-client.ts'
import { CLOSE_DEADLINE_MS, openGuardedConsumer } from '../src/reading/guarded-consumer.ts'
import type { GuardedConsumer } from '../src/reading/guarded-consumer.ts'

type Returns = (error?: { readonly code: number; readonly message: string }) => void

/** A client whose calls return when the test says so; what a real one does to a process cannot be asserted in it. */
class HandRunClient {
  readonly disconnects: string[] = []
  readonly #listeners = new Map<string, () => void>()
  connectReturns: Returns | undefined
  pullReturns: (() => void) | undefined
  describeReturns: (() => void) | undefined
  pullsByHand = false

  module(): ConfluentClient {
    const consumer = {
      connect: (_options: object, done: Returns) => void (this.connectReturns = done),
      disconnect: (done: () => void) => {
        this.disconnects.push('disconnect')
        done()
      },
      consume: (_max: number, done: (error: null, messages: []) => void) => {
        if (this.pullsByHand) this.pullReturns = () => done(null, [])
        else done(null, [])
      },
      on: (event: string, listener: () => void) => void this.#listeners.set(event, listener),
      setDefaultConsumeTimeout: () => undefined,
    } as unknown as ConfluentConsumer
    const admin: ConfluentAdmin = {
      describeTopics: (_topics, _options, done) => void (this.describeReturns = () => done(null, [])),
    }
    // A constructor that returns an object gives that one.
    const KafkaConsumer = function () {
      return consumer
    } as unknown as ConfluentClient['KafkaConsumer']
    return { KafkaConsumer, AdminClient: { createFrom: () => admin } }
  }

  tell(event: string): void {
    this.#listeners.get(event)!()
  }
}

let client: HandRunClient
let releases: Promise<void>[]

beforeEach(() => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  client = new HandRunClient()
  releases = []
})

const open = (deadlineMs = 1_000): Promise<GuardedConsumer> =>
  openGuardedConsumer(
    {
      connection: checkConnection({ brokers: ['127.0.0.1:1'] }),
      tuning: {},
      topic: 'orders',
      partitionCount: 1,
      deadlineMs,
      onRelease: (release) => void releases.push(release),
    },
    client.module(),
  )

/** Whether a promise settled, once everything that needs no time is done. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false
  const mark = (): void => void (done = true)
  promise.then(mark, mark)
  await vi.advanceTimersByTimeAsync(0)
  return done
}

const failure = { code: -195, message: 'Local: Broker transport failure' }

describe('[KAF-15] the client is released when no call of it is under way', () => {
  const opened = async (): Promise<GuardedConsumer> => {
    const opening = open()
    client.connectReturns!()
    await vi.advanceTimersByTimeAsync(50)
    return opening
  }

  it('not beside a connecting that the deadline gave up', async () => {
    const opening = open(100).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(200)
    expect(await opening).toMatchObject({ code: 'TM_KAFKA_UNREACHABLE' })
    expect(client.disconnects).toEqual([])
    expect(await settled(releases[0]!)).toBe(false)
    client.connectReturns!(failure)
    expect(await settled(releases[0]!)).toBe(true)
    expect(client.disconnects).toEqual(['disconnect'])
  })

  it('not beside a describing', async () => {
    const consumer = await opened()
    void consumer.describe('orders', 5_000)
    const closing = consumer.close()
    expect(await settled(closing)).toBe(false)
    expect(client.disconnects).toEqual([])
    client.describeReturns!()
    expect(await settled(closing)).toBe(true)
    expect(client.disconnects).toEqual(['disconnect'])
  })

  it('not beside a pull', async () => {
    const consumer = await opened()
    client.pullsByHand = true
    void consumer.pull(1)
    const closing = consumer.close()
    expect(await settled(closing)).toBe(false)
    expect(client.disconnects).toEqual([])
    client.pullReturns!()
    expect(await settled(closing)).toBe(true)
    expect(client.disconnects).toEqual(['disconnect'])
  })

  it('not beside a release that a failed connection began and no longer waits for', async () => {
    const opening = open(100).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(100)
    client.tell('connection.failure')
    await vi.advanceTimersByTimeAsync(10_000)
    client.connectReturns!(failure)
    await opening
    await vi.advanceTimersByTimeAsync(CLOSE_DEADLINE_MS)
    expect(await settled(releases[0]!)).toBe(true)
    expect(client.disconnects).toEqual([])
  })

  it('but after a release of its own that ended', async () => {
    const opening = open(100).catch((error: unknown) => error)
    await vi.advanceTimersByTimeAsync(100)
    client.tell('connection.failure')
    await vi.advanceTimersByTimeAsync(30)
    client.connectReturns!(failure)
    await opening
    expect(await settled(releases[0]!)).toBe(true)
    expect(client.disconnects).toEqual(['disconnect'])
  })

  it('and a close waits for it no longer than its own deadline', async () => {
    const consumer = await opened()
    void consumer.describe('orders', 60_000)
    const closing = consumer.close()
    await vi.advanceTimersByTimeAsync(CLOSE_DEADLINE_MS - 1)
    expect(await settled(closing)).toBe(false)
    await vi.advanceTimersByTimeAsync(1)
    expect(await settled(closing)).toBe(true)
    expect(client.disconnects).toEqual([])
  })
})
