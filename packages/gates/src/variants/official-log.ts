import { createKafkaLog } from '@tidemark/kafka'
import type { LogSide } from './log-side.ts'

/** The official client behind the guarded consumer. */
export const officialLog: LogSide = { name: 'official', open: (brokers) => createKafkaLog({ brokers }) }
