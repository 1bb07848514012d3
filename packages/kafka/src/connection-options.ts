import { checkLimit } from '@tidemark/core'
import { kafkaErrors } from './errors.ts'
import { checkSecurity } from './security.ts'
import type { KafkaSecurity } from './security.ts'

/** Which cluster to talk to, and as whom. */
export interface KafkaConnectionOptions {
  /** Bootstrap addresses, `host:port` or `[ipv6]:port`. */
  readonly brokers: readonly string[]
  readonly security?: KafkaSecurity
  /** Shown in broker logs, and the prefix of the group name that is only a client name. Default `tidemark`. */
  readonly clientName?: string
  /** Milliseconds to establish one connection. Default 5000. */
  readonly connectTimeoutMs?: number
}

/** Where one broker listens. */
export interface BrokerAddress {
  readonly host: string
  readonly port: number
}

/** Connection options after every check, with defaults in place. */
export interface CheckedConnection {
  readonly brokers: readonly BrokerAddress[]
  readonly security: KafkaSecurity
  readonly clientName: string
  readonly connectTimeoutMs: number
}

/** The most bootstrap addresses accepted; a list is a starting point, not an inventory. */
export const BOOTSTRAP_BROKERS_MAX = 100

/**
 * Checks connection options before anything connects.
 *
 * @throws {TidemarkError} TM_KAFKA_OPTION_INVALID naming the option.
 */
export function checkConnection(options: KafkaConnectionOptions): CheckedConnection {
  const { brokers, security = {}, clientName = 'tidemark', connectTimeoutMs = 5000 } = options
  if (!Array.isArray(brokers) || brokers.length === 0) throw invalid('brokers', 'at least one host:port is needed')
  if (brokers.length > BOOTSTRAP_BROKERS_MAX) {
    throw invalid('brokers', `${brokers.length} addresses are more than ${BOOTSTRAP_BROKERS_MAX}`)
  }
  if (!/^[A-Za-z0-9._-]{1,200}$/.test(clientName)) {
    throw invalid('clientName', 'it must be 1 to 200 letters, digits, dots, underscores or hyphens')
  }
  checkSecurity(security)
  return {
    brokers: brokers.map((text, index) => parseAddress(text, `brokers[${index}]`)),
    security,
    clientName,
    connectTimeoutMs: checkLimit('connectTimeoutMs', connectTimeoutMs, { min: 100, max: 120_000 }),
  }
}

function parseAddress(text: unknown, option: string): BrokerAddress {
  const match = typeof text === 'string' ? /^(?:\[([0-9A-Fa-f:.]+)\]|([^\s:/@,[\]]+)):([0-9]{1,5})$/.exec(text) : null
  const port = Number(match?.[3])
  // The text is quoted only when it is an address: a URL with a password in it must not reach a log.
  if (match === null) throw invalid(option, 'it is not host:port (no scheme, no credentials, no list)')
  if (port < 1 || port > 65_535) throw invalid(option, `port ${port} is not between 1 and 65535`)
  return { host: (match[1] ?? match[2])!, port }
}

/** The text of an address, as both clients and messages spell it. */
export function addressText(address: BrokerAddress): string {
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`
}

/** All bootstrap addresses in one text. */
export function brokersText(connection: CheckedConnection): string {
  return connection.brokers.map(addressText).join(',')
}

function invalid(option: string, reason: string): Error {
  return kafkaErrors.create('TM_KAFKA_OPTION_INVALID', { option, reason })
}
