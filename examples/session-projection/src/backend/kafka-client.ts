import client from '@confluentinc/kafka-javascript'
import type { KafkaJS } from '@confluentinc/kafka-javascript'
import { systemClock, withDeadline } from '@tidemark/core'
import type { KafkaPlace } from '../settings/place-settings.ts'

/** A connection to Kafka for writing, and the last thing the client complained about. */
export interface KafkaClient {
  readonly kafka: KafkaJS.Kafka
  /** Runs one call within the deadline; a time-out names what the client last complained about. */
  within<T>(what: string, call: Promise<T>): Promise<T>
}

/** A client whose messages never hold the password. */
export function createKafkaClient(place: KafkaPlace, deadlineMs: number): KafkaClient {
  const complaints: string[] = []
  const { sasl, tls } = place.security
  const redact = (text: string): string => (sasl === undefined ? text : text.replaceAll(sasl.password, '***'))
  const logger = complaintLogger((text) => complaints.push(redact(text)))
  const kafka = new client.KafkaJS.Kafka({
    kafkaJS: {
      brokers: [...place.brokers],
      clientId: 'session-producer',
      connectionTimeout: deadlineMs,
      logger,
      ...(tls === undefined ? {} : { ssl: true }),
      ...(sasl === undefined
        ? {}
        : {
            sasl: {
              mechanism: sasl.mechanism.toLowerCase() as 'plain',
              username: sasl.username,
              password: sasl.password,
            },
          }),
    },
  })
  return {
    kafka,
    async within(what, call) {
      try {
        return await withDeadline(systemClock, what, deadlineMs, call)
      } catch (error) {
        const reason = error instanceof Error ? redact(error.message) : String(error)
        const last = complaints.at(-1)
        throw new Error(`${what} failed: ${reason}${last === undefined ? '' : ` (${last})`}`, { cause: error })
      }
    },
  }
}

/** Keeps what the client logs as errors, and prints nothing. */
function complaintLogger(complain: (text: string) => void): KafkaJS.Logger {
  const logger: KafkaJS.Logger = {
    info: () => {},
    warn: () => {},
    debug: () => {},
    error: (message) => complain(message),
    namespace: () => logger,
    setLogLevel: () => {},
  }
  return logger
}
