import { Redis } from 'ioredis'
import type { KafkaAdmin } from '../../src/kafka-admin.ts'
import { printAgainstLimit, say } from './bench-output.ts'
import { newProjection } from './contenders.ts'
import type { Place } from './contenders.ts'
import { dispatchValue } from './dispatch-records.ts'

const limitMs = 1_000

/** Time to verdict over many partitions, every checkpoint and every last record looked at; with and without foreign keys. */
export async function benchVerdict(
  admin: KafkaAdmin,
  place: Omit<Place, 'topic' | 'partitions'>,
  partitions: number,
  foreignKeys: number,
  rounds: number,
): Promise<void> {
  say(`verdict over ${partitions} partitions: filling`)
  const topic = await admin.createTopic(partitions)
  await Promise.all(
    Array.from({ length: partitions }, (_, partition) =>
      admin.append(topic, partition, [dispatchValue(partition, 0), dispatchValue(partition, 1)]),
    ),
  )
  const full: Place = { ...place, topic, partitions }
  const redis = new Redis(place.redisUrl)
  await redis.flushall()
  await runOnce(full)
  await measureVerdicts(full, rounds, `verdict${partitions}`)
  say(`${foreignKeys} foreign keys`)
  await redis.call('DEBUG', 'POPULATE', String(foreignKeys), 'f', '4')
  const size = await redis.dbsize()
  if (size < foreignKeys) throw new Error(`only ${size} keys`)
  await measureVerdicts(full, rounds, `verdict${partitions}, ${foreignKeys} foreign keys`)
  await redis.flushall('ASYNC')
  redis.disconnect()
}

/** Creates every checkpoint and every tail witness. */
async function runOnce(place: Place): Promise<void> {
  const projection = newProjection(place, 500)
  const outcome = await projection.start()
  if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.refusals.slice(0, 3)))
  const reached = await projection.caughtUp({ deadlineMs: 120_000 })
  if (reached.kind !== 'ready') throw new Error(JSON.stringify(reached).slice(0, 500))
  await projection.stop()
}

async function measureVerdicts(place: Place, rounds: number, metric: string): Promise<void> {
  const verdicts: number[] = []
  const readies: number[] = []
  for (let round = -1; round < rounds; round += 1) {
    const asked = newProjection(place, 500)
    const from = performance.now()
    const verdict = await asked.explain()
    const tookMs = performance.now() - from
    if (verdict.kind === 'refused') throw new Error(JSON.stringify(verdict.refusals.slice(0, 3)))
    await asked.stop()
    const started = newProjection(place, 500)
    await started.start()
    await started.caughtUp({ deadlineMs: 120_000 })
    const { timeToReadyMs } = started.status()
    if (timeToReadyMs === undefined) throw new Error(started.status().notReadyBecause)
    await started.stop()
    say(`verdict after ${Math.round(tookMs)} ms, ready after ${timeToReadyMs} ms`)
    if (round >= 0) {
      verdicts.push(tookMs)
      readies.push(timeToReadyMs)
    }
  }
  printAgainstLimit(metric, verdicts, limitMs, 'ms')
  printAgainstLimit(`${metric}: claimed, re-read and ready`, readies, 5 * limitMs, 'ms')
}
