import { offsetOf, systemClock } from '@tidemark/core'
import type { CommittedLog } from '@tidemark/log'
import type { CommittedLogWorld, LogCapability } from '@tidemark/testkit/contract'
import { createSimLog } from '@tidemark/testkit/sim'
import type { SimLogOptions, SimLogWorld } from '@tidemark/testkit/sim'

/** Everything the simulated log lets its test do; pinning is chosen when it is made. */
export const simCapabilities: Readonly<Record<LogCapability, boolean>> = {
  transactions: true,
  retention: true,
  recreation: true,
  truncation: true,
  compaction: true,
  headers: true,
  'pinned-identity': false,
}

/** A world over one simulated cluster in real time; `wrap` is where planted bugs go. */
export function createSimLogWorld(
  options: SimLogOptions = {},
  wrap: (log: CommittedLog, sim: SimLogWorld) => CommittedLog = (log) => log,
): CommittedLogWorld {
  const sim = createSimLog({ clock: systemClock, idleStepMs: 1, brokers: 3, ...options })
  const { cluster } = sim
  const topic = 'contract'
  const logs: CommittedLog[] = []
  cluster.createTopic(topic, { partitions: 2 })
  const live = () => cluster.topic(topic)
  return {
    topic,
    deadlineMs: 1_500,
    slackMs: 500,
    async openLog() {
      const log = wrap(sim.openLog(), sim)
      logs.push(log)
      return log
    },
    append: async (partition, records) => void live().append(partition, ...records),
    async begin(partition, records) {
      const transaction = live().begin()
      transaction.append(partition, ...records)
      return { commit: async () => transaction.commit(), abort: async () => transaction.abort() }
    },
    deleteRecordsBefore: async (partition, low) => live().deleteRecordsBefore(partition, low),
    recreate: async () => void cluster.recreateTopic(topic),
    truncate: async (partition, end) => live().truncate(partition, end),
    compactAway: async (partition, offset) => live().compact(partition, (record) => record.offset !== offsetOf(offset)),
    async close() {
      await Promise.all(logs.map((log) => log.close()))
    },
  }
}
