import type { CommittedLog } from '@tidemark/log'
import { committedLogCases, registerCases } from '@tidemark/testkit/contract'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import { describe, it } from 'vitest'
import { createKafkaLog } from '../src/index.ts'
import { createPinnedKafkaLog } from '../src/pinned/index.ts'
import { brokerCapabilities, createKafkaLogWorld } from './kafka-log-world.ts'

const worldOf = (openLog: (brokers: readonly string[]) => CommittedLog) => async () =>
  createKafkaLogWorld(await sharedKafkaBrokers(), openLog)

registerCases(
  committedLogCases,
  worldOf((brokers) => createPinnedKafkaLog({ brokers })),
  {
    describe,
    it,
    subject: 'the pinned log on a real broker',
    capabilities: { ...brokerCapabilities, 'pinned-identity': true },
  },
)

registerCases(
  committedLogCases,
  worldOf((brokers) => createKafkaLog({ brokers })),
  {
    describe,
    it,
    subject: "the official client's log on a real broker",
    capabilities: { ...brokerCapabilities, 'pinned-identity': false },
  },
)
