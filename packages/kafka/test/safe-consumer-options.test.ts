import { describe, expect, it } from 'vitest'
import { checkConnection } from '../src/connection-options.ts'
import { createKafkaLog } from '../src/index.ts'
import {
  checkClientTuning,
  guardedSettings,
  statisticsIntervalMs,
  TUNABLE_CLIENT_OPTIONS,
} from '../src/reading/safe-consumer-options.ts'

const refusal = (tuning: Record<string, unknown>): { code: string; message: string; details: { option: string } } => {
  try {
    checkClientTuning(tuning)
  } catch (error) {
    return error as never
  }
  throw new Error(`accepted ${JSON.stringify(tuning)}`)
}

describe('the option guard', () => {
  it.each([
    ['auto.offset.reset', 'earliest'],
    ['auto.offset.reset', 'latest'],
    ['auto.offset.reset', 'error'],
    ['enable.auto.commit', true],
    ['auto.commit.enable', true],
    ['enable.auto.offset.store', true],
    ['isolation.level', 'read_uncommitted'],
    ['enable.partition.eof', false],
    ['group.id', 'theirs'],
    ['group.instance.id', 'static-1'],
    ['group.protocol', 'consumer'],
    ['partition.assignment.strategy', 'roundrobin'],
    ['session.timeout.ms', 10_000],
    ['rebalance_cb', () => undefined],
    ['client.rack', 'a'],
    ['check.crcs', false],
    ['allow.auto.create.topics', true],
    ['statistics.interval.ms', 0],
    ['bootstrap.servers', 'elsewhere:9092'],
    ['metadata.broker.list', 'elsewhere:9092'],
    ['security.protocol', 'plaintext'],
    ['ssl.ca.location', '/tmp/ca'],
    ['sasl.password', 'hunter2'],
    ['enable.ssl.certificate.verification', false],
    ['plugin.library.paths', 'evil'],
    ['test.mock.num.brokers', 3],
    ['topic.metadata.propagation.max.ms', 1],
    ['debug', 'all'],
    ['an.option.of.tomorrow', 1],
    ['__proto__x', 1],
    ['constructor', 1],
    ['toString', 1],
  ])('[KAF-1] [CK-17] refuses %s whatever its value', (option, value) => {
    const error = refusal({ [option]: value })
    expect(error).toMatchObject({ code: 'TM_KAFKA_UNSAFE_OPTION', details: { option } })
    expect(error.message).toContain(option)
    if (typeof value === 'string') expect(error.message).not.toContain(`"${value}"`)
  })

  it('[KAF-1] never quotes a value, and refuses values outside the client range', () => {
    expect(JSON.stringify(refusal({ 'sasl.password': 'hunter2' }))).not.toContain('hunter2')
    for (const value of ['100', 1.5, -1, Number.NaN, 2 ** 60, null, undefined, true]) {
      expect(refusal({ 'fetch.wait.max.ms': value }).code).toBe('TM_KAFKA_UNSAFE_OPTION')
    }
    expect(refusal({ 'socket.keepalive.enable': 1 }).code).toBe('TM_KAFKA_UNSAFE_OPTION')
  })

  it('[KAF-1] lets sizes and times through, and guards the log as well as its parts', () => {
    const tuning = { 'fetch.wait.max.ms': 50, 'queued.min.messages': 1000, 'socket.keepalive.enable': false }
    expect(checkClientTuning(tuning)).toEqual(tuning)
    expect(() =>
      createKafkaLog({ brokers: ['b:9092'], clientTuning: { 'enable.auto.commit': true } as never }),
    ).toThrowError(expect.objectContaining({ code: 'TM_KAFKA_UNSAFE_OPTION' }))
  })

  it('[KAF-1] [KAF-2] the settings that matter stand, whatever is tuned', () => {
    const connection = checkConnection({ brokers: ['b1:9092', 'b2:9093'], clientName: 'me' })
    const tuning = checkClientTuning({ 'fetch.wait.max.ms': 7 })
    const { global, topic } = guardedSettings(connection, tuning, 'me.1', 3)
    expect(global).toMatchObject({
      'bootstrap.servers': 'b1:9092,b2:9093',
      'client.id': 'me',
      'group.id': 'me.1',
      'security.protocol': 'plaintext',
      'isolation.level': 'read_committed',
      'enable.partition.eof': true,
      'enable.auto.commit': false,
      'enable.auto.offset.store': false,
      'allow.auto.create.topics': false,
      'check.crcs': true,
      'fetch.wait.max.ms': 7,
    })
    // A topic-level setting among the global ones is dropped without a word once topic settings are given.
    expect(topic).toEqual({ 'auto.offset.reset': 'error' })
    expect(Object.keys(global)).not.toContain('auto.offset.reset')
    for (const option of TUNABLE_CLIENT_OPTIONS) {
      expect(['isolation.level', 'auto.offset.reset', 'group.id', 'enable.partition.eof']).not.toContain(option)
    }
  })

  it('[KAF-6] statistics come often for few partitions and are stretched for thousands', () => {
    expect([1, 200, 1000, 50_000].map(statisticsIntervalMs)).toEqual([500, 500, 2000, 5000])
  })
})
