// A contender as a process of its own, to be killed or weighed.
// Arguments: kind, brokers, redis url, topic, partitions, batch, records. Standard output: JSON lines {start}, {done}, {end}.
import { Redis } from 'ioredis'
import { newProjection, openHandWrittenLoop } from './contenders.ts'
import type { Place } from './contenders.ts'
import { peakMegabytes } from './peak-memory.ts'
import { measureConsumeOnly } from './throughput.ts'

const [kind, brokers, redisUrl, topic, partitionText, batchText, recordText] = process.argv.slice(2) as [
  'ours' | 'none' | 'set' | 'read',
  ...string[],
]
const [partitions, batch, records] = [Number(partitionText), Number(batchText), Number(recordText)]
const place: Place = { brokers: brokers!.split(','), redisUrl: redisUrl!, topic: topic!, partitions }
const tell = (line: object): void => void process.stdout.write(`${JSON.stringify(line)}\n`)
const positions = Array.from({ length: partitions }, () => 0)
const target = records / partitions

async function runOurs(): Promise<void> {
  const from = performance.now()
  const projection = newProjection(place, batch, {
    observer: {
      onStep: ({ partition, nextOffset }) => tell({ done: [partition, Number(nextOffset)] }),
    },
  })
  const outcome = await projection.start()
  if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.refusals))
  tell({ start: outcome.plan.partitions.map(({ nextOffset }) => Number(nextOffset)) })
  const reached = await projection.caughtUp()
  await projection.stop()
  if (reached.kind !== 'ready') throw new Error(JSON.stringify(reached))
  end(from)
}

async function runHandWritten(checkpoint: 'none' | 'set'): Promise<void> {
  const from = performance.now()
  let start: readonly number[] | { group: string; partitions: number } = { group: `group-${topic}`, partitions }
  if (checkpoint === 'set') {
    const redis = new Redis(place.redisUrl)
    const stored = await redis.mget(positions.map((_, partition) => `checkpoint:${partition}`))
    start = stored.map((text) => Number(text ?? 0))
    redis.disconnect()
    tell({ start })
  }
  let idle = 0
  const confirmed = (partition: number, count: number, next: number): void => {
    // Where the group stood is known by the first record only.
    if (checkpoint === 'none' && !seen.has(partition)) tell({ startOf: [partition, next - count] })
    seen.add(partition)
    positions[partition] = next
    tell({ done: [partition, next] })
  }
  const seen = new Set<number>()
  const loop = await openHandWrittenLoop(place, batch, checkpoint, start, confirmed)
  for (;;) {
    // As usually written: a batch that could not be written is logged, and the loop goes on with the next one.
    const count = await loop.step().catch((error: unknown) => {
      tell({ logged: String(error).slice(0, 100) })
      return -1
    })
    idle = count === 0 ? idle + 1 : 0
    if (positions.every((position) => position >= target)) break
    // A group that committed everything before has nothing left to tell; one that is still being joined has. Pulls of 200 ms.
    if (idle > (seen.size > 0 ? 25 : 75)) break
  }
  await loop.close()
  end(from)
}

function end(from: number): void {
  tell({ end: { ms: performance.now() - from, rssMegabytes: peakMegabytes() } })
}

if (kind === 'ours') await runOurs()
else if (kind === 'read') {
  const from = performance.now()
  await measureConsumeOnly(place, records)
  end(from)
} else await runHandWritten(kind)
process.exit(0)
