import { createKafkaLog } from '@tidemark/kafka'
import type { CommittedLog } from '@tidemark/log'
import type { KafkaPlace } from '../../settings/place-settings.ts'

/** The committed log on Kafka, read by the official client. */
export function openKafkaLog({ brokers, security }: KafkaPlace): CommittedLog {
  return createKafkaLog({ brokers, security, clientName: 'session-projection' })
}
