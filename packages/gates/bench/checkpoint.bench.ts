// The checkpoint end to end, on a real Kafka and a real Redis: `npm run bench -- checkpoint [metric…] [--quick]`.
// Prints a JSON object a line; peers run in the same process and the same rounds, in alternating order.
import { createPinnedKafkaLog } from '@tidemark/kafka/pinned'
import { startKafka, startRedis } from '@tidemark/testkit/service'
import { createKafkaAdmin } from '../src/kafka-admin.ts'
import { say } from './checkpoint/bench-output.ts'
import { readCommand } from './checkpoint/bench-settings.ts'
import { benchCatchUp } from './checkpoint/catch-up.ts'
import { compileChildProgram } from './checkpoint/child-contender.ts'
import { fillTopic } from './checkpoint/dispatch-records.ts'
import { benchLosses } from './checkpoint/losses.ts'
import { benchCodec, benchPlanner } from './checkpoint/pure-costs.ts'
import { benchAgainstLoops, benchLease, benchPinned } from './checkpoint/throughput.ts'
import { benchVerdict } from './checkpoint/verdict.ts'

const { settings, metrics } = readCommand(process.argv.slice(2))
const { partitions, records, rounds } = settings

async function main(): Promise<void> {
  if (metrics.has('planner')) benchPlanner(settings.verdictPartitions, rounds)
  if (metrics.has('codec')) benchCodec()
  if (![...metrics].some((metric) => metric !== 'planner' && metric !== 'codec')) return
  say('starting Kafka and Redis')
  const [kafka, redis] = await Promise.all([startKafka(), startRedis({ config: { 'enable-debug-command': 'yes' } })])
  const admin = createKafkaAdmin(kafka.bootstrapBrokers)
  const services = { brokers: kafka.bootstrapBrokers, redisUrl: redis.url }
  try {
    if (metrics.has('r1') || metrics.has('r2') || metrics.has('lease') || metrics.has('pinned')) {
      const topic = await fillTopic(admin, partitions, records)
      const place = { ...services, topic, partitions }
      if (metrics.has('r1') || metrics.has('r2')) await benchAgainstLoops(place, records, settings.batches, rounds)
      if (metrics.has('lease')) await benchLease(place, records, rounds)
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

await main()
