import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { messageOf } from '@tidemark/core'
import type { KafkaSecurity, KafkaTls } from '@tidemark/kafka'
import { cliErrors } from '../errors.ts'
import type { Secrets } from './secrets.ts'

/** The environment variables that say how to log in to Kafka, and what each holds. */
export const kafkaSecurityVariables = {
  KAFKA_TLS: 'on for TLS with the usual authorities',
  KAFKA_TLS_CA_FILE: 'PEM file of the authorities to trust; implies TLS',
  KAFKA_TLS_CERTIFICATE_FILE: 'PEM file of the client certificate',
  KAFKA_TLS_KEY_FILE: 'PEM file of its key',
  KAFKA_TLS_KEY_PASSPHRASE: 'the passphrase of that key',
  KAFKA_SASL_MECHANISM: 'PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512',
  KAFKA_SASL_USERNAME: 'who logs in',
  KAFKA_SASL_PASSWORD: 'its password',
} as const

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The security of the connection, from the environment or from the JSON file that `KAFKA_SECURITY_FILE` names; its shape
 * is that of `KafkaSecurity`, with PEM texts in place.
 *
 * @throws {TidemarkError} TM_CLI_FILE_UNREADABLE, TM_CLI_USAGE
 */
export function readKafkaSecurity(env: Environment, cwd: string, secrets: Secrets): KafkaSecurity {
  const file = set(env['KAFKA_SECURITY_FILE'])
  const security = file === undefined ? fromVariables(env, cwd) : fromFile(file, cwd)
  const { tls, sasl } = security
  secrets.add(sasl?.password)
  if (tls !== undefined && tls !== true) {
    secrets.add(tls.key)
    secrets.add(tls.keyPassphrase)
  }
  return security
}

function fromFile(file: string, cwd: string): KafkaSecurity {
  const text = readFile('the security file', file, cwd)
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    // The parser's message quotes the text, and the text holds a password.
    throw unreadable('the security file', file, 'it is not JSON')
  }
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed)) {
    throw unreadable('the security file', file, 'it is not a JSON object')
  }
  const stray = Object.keys(parsed).find((key) => key !== 'tls' && key !== 'sasl')
  // A misspelt field would connect without what it meant to say.
  if (stray !== undefined) throw unreadable('the security file', file, `it has the unknown field "${stray}"`)
  return parsed as KafkaSecurity
}

function fromVariables(env: Environment, cwd: string): KafkaSecurity {
  const tls = readTls(env, cwd)
  const mechanism = set(env['KAFKA_SASL_MECHANISM'])
  const username = set(env['KAFKA_SASL_USERNAME'])
  const password = set(env['KAFKA_SASL_PASSWORD'])
  const withTls = tls === undefined ? {} : { tls }
  if (mechanism === undefined) {
    // Credentials that nothing uses would look as if they were in force.
    if (username === undefined && password === undefined) return withTls
    throw usage('KAFKA_SASL_USERNAME or KAFKA_SASL_PASSWORD is set without KAFKA_SASL_MECHANISM')
  }
  if (mechanism !== 'PLAIN' && mechanism !== 'SCRAM-SHA-256' && mechanism !== 'SCRAM-SHA-512') {
    throw usage(`KAFKA_SASL_MECHANISM is "${mechanism.slice(0, 32)}", not PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512`)
  }
  if (username === undefined || password === undefined) {
    throw usage('KAFKA_SASL_MECHANISM needs KAFKA_SASL_USERNAME and KAFKA_SASL_PASSWORD')
  }
  return { ...withTls, sasl: { mechanism, username, password } }
}

function readTls(env: Environment, cwd: string): true | KafkaTls | undefined {
  const pem = (variable: string): string | undefined => {
    const file = set(env[variable])
    return file === undefined ? undefined : readFile(`the file of ${variable}`, file, cwd)
  }
  const parts = {
    ca: pem('KAFKA_TLS_CA_FILE'),
    certificate: pem('KAFKA_TLS_CERTIFICATE_FILE'),
    key: pem('KAFKA_TLS_KEY_FILE'),
    keyPassphrase: set(env['KAFKA_TLS_KEY_PASSPHRASE']),
  }
  const given = Object.entries(parts).filter(([, text]) => text !== undefined)
  const word = set(env['KAFKA_TLS']) ?? 'off'
  if (word !== 'on' && word !== 'off') throw usage(`KAFKA_TLS is "${word.slice(0, 32)}", not on or off`)
  if (given.length > 0) return Object.fromEntries(given) as KafkaTls
  return word === 'on' ? true : undefined
}

function readFile(what: string, file: string, cwd: string): string {
  try {
    return readFileSync(resolve(cwd, file), 'utf8')
  } catch (error) {
    throw unreadable(what, file, messageOf(error))
  }
}

/** An empty variable counts as unset. */
function set(value: string | undefined): string | undefined {
  return value === '' ? undefined : value
}

function unreadable(what: string, file: string, reason: string): Error {
  return cliErrors.create('TM_CLI_FILE_UNREADABLE', { what, file, reason })
}

function usage(reason: string): Error {
  return cliErrors.create('TM_CLI_USAGE', { reason })
}
