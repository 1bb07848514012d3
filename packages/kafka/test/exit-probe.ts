// Run as a process of its own: uses a log in one way, closes it, and must then end by itself.
import { createKafkaLog } from '../src/index.ts'
import type { Offset } from '@tidemark/core'

const [way, brokers, topic] = process.argv.slice(2) as [string, string, string]

const log = createKafkaLog({
  brokers: brokers.split(','),
  ...(way === 'login' ? { security: { sasl: { mechanism: 'PLAIN', username: 'u', password: 'p' } } } : {}),
})
const positions = [{ partition: 0, nextOffset: 0n as Offset }]
const controller = new AbortController()
process.on('unhandledRejection', (error) => {
  console.log(`unhandled ${String(error)}`)
  process.exit(3)
})
if (way === 'cancel') setTimeout(() => controller.abort(), 200)
try {
  if (way === 'read') {
    await log.inspector.surveyIdentity(topic, { deadlineMs: 5000 })
    const reader = await log.openReader({ topic, positions, deadlineMs: 10_000 })
    await reader.poll({ recordsMax: 10, waitMs: 200 })
    await reader.describeTopic(3000)
    // Left for the log to close, while a poll is under way.
    void reader.poll({ recordsMax: 10, waitMs: 60_000 })
  } else {
    await log.openReader({ topic, positions, deadlineMs: 3000, signal: controller.signal })
  }
  console.log('opened')
} catch (error) {
  console.log(`failed ${(error as { code: string }).code}`)
}
const closing = performance.now()
await log.close()
console.log(`closed ${Math.round(performance.now() - closing)}`)
const closed = performance.now()
process.on('exit', () => console.log(`exit ${Math.round(performance.now() - closed)}`))
