import { Redis } from 'ioredis'
import type { KafkaAdmin } from '../../src/kafka-admin.ts'
import { median, printAgainstLimit, printResult, say, spread } from './bench-output.ts'
import type { ChildKind, ChildProgram } from './child-contender.ts'
import type { Place } from './contenders.ts'
import { fillTopic } from './dispatch-records.ts'

const rssLimitMegabytes = 250
const batch = 500

/** Catch-up of growing backlogs, each in a process of its own: its peak memory, and its speed against reading only. */
export async function benchCatchUp(
  program: ChildProgram,
  admin: KafkaAdmin,
  place: Omit<Place, 'topic'>,
  backlogs: readonly number[],
): Promise<void> {
  const redis = new Redis(place.redisUrl)
  const peaks: number[] = []
  for (const backlog of backlogs) {
    say(`catch-up of ${backlog} records: filling`)
    const topic = await fillTopic(admin, place.partitions, backlog)
    await redis.flushall()
    const own = await weigh(program, 'ours', { ...place, topic }, backlog)
    const read = await weigh(program, 'read', { ...place, topic }, backlog)
    say(`${backlog}: ${Math.round(own.rate)} records/s with ${Math.round(own.rssMegabytes)} MB`)
    peaks.push(own.rssMegabytes)
    printAgainstLimit(`catchup, peak RSS at ${backlog}`, [own.rssMegabytes], rssLimitMegabytes, 'MB')
    printResult({
      metric: `catchup of ${backlog}`,
      ours: own.rate,
      peer: read.rate,
      peerName: `consume only (${Math.round(read.rssMegabytes)} MB)`,
      ratio: own.rate / read.rate,
      spread: 0,
      unit: 'records/s',
    })
  }
  const [least, most] = [peaks[0]!, peaks.at(-1)!]
  printResult({
    metric: `catchup, growth of RSS from ${backlogs[0]} to ${backlogs.at(-1)}`,
    ours: most,
    peer: least,
    peerName: `RSS at ${backlogs[0]}`,
    ratio: most / least,
    spread: median(peaks) === 0 ? 0 : spread(peaks),
    unit: 'MB',
  })
  redis.disconnect()
}

async function weigh(
  program: ChildProgram,
  kind: ChildKind,
  place: Place,
  records: number,
): Promise<{ readonly rate: number; readonly rssMegabytes: number }> {
  let told: { readonly ms: number; readonly rssMegabytes: number } | undefined
  const run = program.start(kind, place, batch, records, (line) => {
    if ('end' in line) told = line.end
  })
  const { code, errors } = await run.exit
  if (code !== 0 || told === undefined) throw new Error(`${kind} ended with ${code}: ${errors}`)
  return { rate: (records * 1_000) / told.ms, rssMegabytes: told.rssMegabytes }
}
