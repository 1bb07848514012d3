import { committedLogCases, registerCases } from '@tidemark/testkit/contract'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { describe, it } from 'vitest'
import { createPinnedKafkaLog } from '../src/pinned/index.ts'
import { brokerCapabilities, createKafkaLogWorld } from './kafka-log-world.ts'

registerCases(
  committedLogCases,
  async () => createKafkaLogWorld(await sharedKafkaBrokers(), (brokers) => createPinnedKafkaLog({ brokers })),
  {
    describe,
    it,
    subject: 'the pinned log on a real broker',
    capabilities: { ...brokerCapabilities, 'pinned-identity': true },
  },
)
