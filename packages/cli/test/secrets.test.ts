import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { readKafkaSecurity } from '../src/places/kafka-security.ts'
import { createSecrets } from '../src/places/secrets.ts'

const directory = mkdtempSync(join(tmpdir(), 'tidemark-secrets-'))
afterAll(() => rmSync(directory, { recursive: true, force: true }))
const file = (name: string, text: string): string => {
  writeFileSync(join(directory, name), text)
  return name
}
const pem = '-----BEGIN PRIVATE KEY-----\nabc\n-----END PRIVATE KEY-----\n'

describe('redaction', () => {
  it('[CLI-8] replaces every secret in every form it was given, longer ones first', () => {
    const secrets = createSecrets()
    for (const secret of ['pass', 'pass word', '', undefined]) secrets.add(secret)
    expect(secrets.redact('pass word, pass%20word, pass, compass')).toBe('***, ***, ***, com***')
  })

  it('[CLI-8] replaces the password of any URL, also of one nobody announced', () => {
    const { redact } = createSecrets()
    expect(redact('redis://u:p%40w@h:1/0 and postgres://:x@h/db and a:b@c')).toBe(
      'redis://u:***@h:1/0 and postgres://:***@h/db and a:b@c',
    )
    expect(redact('kafka://h:9092/topic@x')).toBe('kafka://h:9092/topic@x')
  })
})

describe('the security of a Kafka connection', () => {
  const read = (env: Record<string, string>) => {
    const secrets = createSecrets()
    return { security: readKafkaSecurity(env, directory, secrets), secrets }
  }

  it('[CLI-8] comes from variables, and its secrets are kept out of what is printed', () => {
    const { security, secrets } = read({
      KAFKA_TLS_CA_FILE: file('ca.pem', '-----BEGIN CERTIFICATE-----\n'),
      KAFKA_TLS_CERTIFICATE_FILE: file('cert.pem', '-----BEGIN CERTIFICATE-----\n'),
      KAFKA_TLS_KEY_FILE: file('key.pem', pem),
      KAFKA_TLS_KEY_PASSPHRASE: 'open sesame',
      KAFKA_SASL_MECHANISM: 'SCRAM-SHA-512',
      KAFKA_SASL_USERNAME: 'reader',
      KAFKA_SASL_PASSWORD: 'hunter2',
    })
    expect(security).toMatchObject({
      tls: { key: pem, keyPassphrase: 'open sesame' },
      sasl: { mechanism: 'SCRAM-SHA-512', username: 'reader', password: 'hunter2' },
    })
    expect(secrets.redact(`hunter2 open sesame ${pem}`)).toBe('*** *** ***')
    expect(read({}).security).toEqual({})
    expect(read({ KAFKA_TLS: 'on' }).security).toEqual({ tls: true })
  })

  it('[CLI-8] or from a file, whose faults are told without its contents', () => {
    const sasl = { mechanism: 'PLAIN', username: 'u', password: 'hunter2' }
    const good = file('good.json', JSON.stringify({ tls: true, sasl }))
    expect(read({ KAFKA_SECURITY_FILE: good }).security).toEqual({ tls: true, sasl })
    for (const [name, text] of [
      ['broken.json', '{"sasl": {"password": "hunter2"'],
      ['list.json', '["hunter2"]'],
      ['stray.json', JSON.stringify({ sasl, ssl: 'hunter2' })],
    ] as const) {
      const reading = (): unknown => read({ KAFKA_SECURITY_FILE: file(name, text) })
      expect(reading).toThrow(expect.objectContaining({ code: 'TM_CLI_FILE_UNREADABLE' }))
      expect(reading).toThrow(/^(?!.*hunter2)/)
    }
  })
})
