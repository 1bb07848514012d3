import { createPinnedKafkaLog } from '@tidemark/kafka/pinned'
import { startKafka, startRedis } from '@tidemark/testkit/service'
import { createKafkaAdmin } from '../../src/kafka-admin.ts'
import { say } from './bench-output.ts'
import type { BenchSettings, MetricName } from './bench-settings.ts'
import { benchCatchUp } from './catch-up.ts'
import { compileChildProgram } from './child-contender.ts'
import { fillTopic } from './dispatch-records.ts'
import { benchLosses } from './losses.ts'
import { benchAgainstLoops, benchLease, benchPinned } from './throughput.ts'
import { benchVerdict } from './verdict.ts'

/** The metrics that need a Kafka and a Redis, which are started for them. */
export async function benchOnServices(settings: BenchSettings, metrics: ReadonlySet<MetricName>): Promise<void> {
  const { partitions, records, rounds } = settings
  say('starting Kafka and Redis')
  const [kafka, redis] = await Promise.all([startKafka(), startRedis({ config: { 'enable-debug-command': 'yes' } })])
  const admin = createKafkaAdmin(kafka.bootstrapBrokers)
  const services = { brokers: kafka.bootstrapBrokers, redisUrl: redis.url }
  try {
    if (metrics.has('lease')) {
      const { leaseRecords, leaseRounds } = settings
      const topic = await fillTopic(admin, partitions, leaseRecords)
      await benchLease({ ...services, topic, partitions }, leaseRecords, leaseRounds)
    }
    if (metrics.has('r1') || metrics.has('r2') || metrics.has('pinned')) {
      const topic = await fillTopic(admin, partitions, records)
      const place = { ...services, topic, partitions }
      if (metrics.has('r1') || metrics.has('r2')) await benchAgainstLoops(place, records, settings.batches, rounds)
      if (metrics.has('pinned')) {
        await benchPinned(place, records, rounds, (brokers) => createPinnedKafkaLog({ brokers }))
      }
    }
    if (metrics.has('verdict512')) {
      await benchVerdict(admin, services, settings.verdictPartitions, settings.foreignKeys, rounds)
    }
    if (metrics.has('catchup') || metrics.has('losses')) {
      const program = await compileChildProgram()
      try {
        if (metrics.has('catchup')) await benchCatchUp(program, admin, { ...services, partitions }, settings.backlogs)
        if (metrics.has('losses')) {
          const place = { brokers: services.brokers, partitions }
          await benchLosses(program, admin, redis, place, settings.lossRecords, settings.kills)
        }
      } finally {
        program.remove()
      }
    }
  } finally {
    await admin.close()
    await Promise.all([kafka.close(), redis.close()])
  }
}
