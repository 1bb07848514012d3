import { createPinnedKafkaLog } from '@tidemark/kafka/pinned'
import type { LogSide } from './log-side.ts'

/** The client whose fetches carry the topic id. */
export const pinnedLog: LogSide = { name: 'pinned', open: (brokers) => createPinnedKafkaLog({ brokers }) }
