// Run as a process of its own: opens logs that fail in their ways, closes each, and must then end by itself.
import type { Offset } from '@tidemark/core'
import { createPinnedKafkaLog } from '../../src/pinned/index.ts'
import type { PinnedKafkaLogOptions } from '../../src/pinned/index.ts'

interface ProbedWay {
  readonly name: string
  readonly options: PinnedKafkaLogOptions
}

const { topic, ways } = JSON.parse(process.argv[2]!) as { topic: string; ways: readonly ProbedWay[] }
const positions = [{ partition: 0, nextOffset: 0n as Offset }]
process.on('unhandledRejection', (error) => {
  console.log(`unhandled ${String(error)}`)
  process.exit(3)
})
for (const { name, options } of ways) {
  const log = createPinnedKafkaLog(options)
  try {
    const reader = await log.openReader({ topic, positions, deadlineMs: 1_500 })
    await reader.poll({ recordsMax: 10, waitMs: 1_000 })
    // Left for the log to close, while a poll is under way.
    void reader.poll({ recordsMax: 10, waitMs: 60_000 })
    console.log(`${name}: opened`)
  } catch (error) {
    console.log(`${name}: ${(error as { code: string }).code}`)
  }
  await log.close()
}
const closedMs = performance.now()
process.on('exit', () => console.log(`ended after ${Math.round(performance.now() - closedMs)} ms`))
