import { describe, expect, it } from 'vitest'
import { brokersText, checkConnection } from '../src/connection-options.ts'
import type { KafkaConnectionOptions } from '../src/connection-options.ts'
import { consumerSecurity, inspectorSecurity, secretsRemover } from '../src/security.ts'
import type { KafkaSecurity } from '../src/security.ts'

const refusal = (options: unknown): { code: string; message: string } => {
  try {
    checkConnection(options as KafkaConnectionOptions)
  } catch (error) {
    return error as never
  }
  throw new Error('accepted')
}

const pem = '-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n'
const key = '-----BEGIN PRIVATE KEY-----\nMIIE\n-----END PRIVATE KEY-----\n'

describe('connection options', () => {
  it('[KAF-13] takes names and addresses with a port, and spells them as both clients do', () => {
    const checked = checkConnection({ brokers: ['kafka-1.example:9092', '10.0.0.1:9093', '[::1]:9094'] })
    expect(checked.brokers).toEqual([
      { host: 'kafka-1.example', port: 9092 },
      { host: '10.0.0.1', port: 9093 },
      { host: '::1', port: 9094 },
    ])
    expect(brokersText(checked)).toBe('kafka-1.example:9092,10.0.0.1:9093,[::1]:9094')
  })

  it.each([
    [[]],
    ['localhost:9092'],
    [['localhost']],
    [['localhost:']],
    [['localhost:0']],
    [['localhost:70000']],
    [['kafka://localhost:9092']],
    [['user:hunter2@localhost:9092']],
    [['a:1,b:2']],
    [['']],
    [[undefined]],
    [Array.from({ length: 101 }, (_, i) => `b${i}:9092`)],
  ])('[KAF-13] refuses %j without quoting it', (brokers) => {
    const error = refusal({ brokers })
    expect(error.code).toBe('TM_KAFKA_OPTION_INVALID')
    expect(error.message).toContain('brokers')
    expect(error.message).not.toContain('hunter2')
  })

  it.each([
    [{ clientName: '' }],
    [{ clientName: 'no spaces' }],
    [{ connectTimeoutMs: 1 }],
    [{ security: { tls: { ca: '/etc/ca.pem' } } }],
    [{ security: { tls: { certificate: pem } } }],
    [{ security: { sasl: { mechanism: 'GSSAPI', username: 'u', password: 'hunter2' } } }],
    [{ security: { sasl: { mechanism: 'PLAIN', username: '', password: 'hunter2' } } }],
    [{ security: { sasl: { mechanism: 'PLAIN', username: 'u', password: '' } } }],
  ])('[KAF-13] refuses %j by name', (options) => {
    const error = refusal({ brokers: ['b:9092'], ...options })
    expect(error.code).toMatch(/TM_(KAFKA_OPTION|CORE_LIMIT)_INVALID/)
    expect(JSON.stringify(error)).not.toContain('hunter2')
  })
})

describe('security', () => {
  const sasl = { mechanism: 'SCRAM-SHA-512', username: 'u', password: 'hunter2' } as const
  const full: KafkaSecurity = { tls: { ca: pem, certificate: pem, key, keyPassphrase: 'open sesame' }, sasl }

  it('[KAF-13] one description maps to both clients', () => {
    expect(consumerSecurity(full)).toEqual({
      'security.protocol': 'sasl_ssl',
      'enable.ssl.certificate.verification': true,
      'ssl.endpoint.identification.algorithm': 'https',
      'ssl.ca.pem': pem,
      'ssl.certificate.pem': pem,
      'ssl.key.pem': key,
      'ssl.key.password': 'open sesame',
      'sasl.mechanisms': 'SCRAM-SHA-512',
      'sasl.username': 'u',
      'sasl.password': 'hunter2',
    })
    expect(inspectorSecurity(full)).toEqual({
      tls: { ca: pem, cert: pem, key, passphrase: 'open sesame', minVersion: 'TLSv1.2' },
      sasl,
    })
    const protocols = [{}, { tls: true as const }, { sasl }, { tls: true as const, sasl }].map(
      (security) => consumerSecurity(security)['security.protocol'],
    )
    expect(protocols).toEqual(['plaintext', 'ssl', 'sasl_plaintext', 'sasl_ssl'])
    expect(inspectorSecurity({})).toEqual({})
  })

  it('[KAF-13] removes every secret from what a client says, the longest first', () => {
    const clean = secretsRemover({ tls: { certificate: pem, key, keyPassphrase: 'hunter2 and more' }, sasl })
    const text = clean(`key ${key} pass hunter2 and more login hunter2 user u`)
    expect(text).toBe('key *** pass *** login *** user u')
    expect(secretsRemover({})('hunter2')).toBe('hunter2')
  })
})
