import { createPinnedKafkaLog } from '@tidemark/kafka/pinned'
import type { CommittedLog } from '@tidemark/log'
import type { KafkaPlace } from '../../settings/place-settings.ts'

/** The committed log on Kafka, read by fetches that carry the topic's id. */
export function openPinnedKafkaLog({ brokers, security }: KafkaPlace): CommittedLog {
  return createPinnedKafkaLog({ brokers, security, clientName: 'session-projection' })
}
