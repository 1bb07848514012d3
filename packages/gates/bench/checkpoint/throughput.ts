import { Redis } from 'ioredis'
import { createKafkaLog } from '@tidemark/kafka'
import type { ClientStatement, CommittedLog, IdentitySurvey } from '@tidemark/log'
import { printRounds, say } from './bench-output.ts'
import { newProjection, openHandWrittenLoop } from './contenders.ts'
import type { Place } from './contenders.ts'
import { openRawConsumer } from './raw-consumer.ts'

/** Something that takes a whole topic in, and how fast it did: records a second from opening its consumer on. */
interface Contender {
  readonly name: string
  measure(place: Place, records: number): Promise<number>
}

/** Measures contenders in alternating order on an emptied Redis; the first round warms up. Rates by contender. */
async function measureRounds(
  contenders: readonly Contender[],
  place: Place,
  records: number,
  rounds: number,
): Promise<readonly (readonly number[])[]> {
  const redis = new Redis(place.redisUrl)
  const rates: number[][] = contenders.map(() => [])
  for (let round = -1; round < rounds; round += 1) {
    const order = contenders.map((_, index) => index)
    if (round % 2 === 0) order.reverse()
    for (const index of order) {
      await redis.flushall()
      const rate = await contenders[index]!.measure(place, records)
      if (round >= 0) rates[index]!.push(rate)
    }
    if (round >= 0) {
      const now = contenders.map(({ name }, index) => `${name} ${Math.round(rates[index]!.at(-1)!)}`)
      say(`round ${round + 1} of ${rounds}: ${now.join(', ')} records/s`)
    }
  }
  redis.disconnect()
  return rates
}

/** Ours, by the log it reads and how often the idle lease is renewed. */
function ours(name: string, batch: number, openLog: (place: Place) => CommittedLog, leaseMs: number): Contender {
  return {
    name,
    async measure(place, records) {
      let openedAt = 0
      let applied = 0
      let done: (atMs: number) => void
      const finished = new Promise<number>((resolve) => (done = resolve))
      const log = openLog(place)
      const timed: CommittedLog = {
        inspector: log.inspector,
        readBack: (request) => log.readBack(request),
        close: () => log.close(),
        // The hand-written loops open their client inside the measured time too.
        openReader: (request) => {
          openedAt = performance.now()
          return log.openReader(request)
        },
      }
      const observer = {
        onStep: ({ records: count }: { readonly records: number }): void => {
          applied += count
          if (applied >= records) done(performance.now())
        },
      }
      const projection = newProjection(place, batch, { log: timed, leaseMs, observer })
      const outcome = await projection.start()
      if (outcome.kind === 'refused') throw new Error(JSON.stringify(outcome.refusals))
      const ended = projection.ended().then((end) => {
        throw new Error(`it ended before all was applied: ${JSON.stringify(end)}`)
      })
      const finishedAt = await Promise.race([finished, ended])
      ended.catch(() => undefined)
      await projection.stop()
      return (records * 1_000) / (finishedAt - openedAt)
    },
  }
}

const officialLog = ({ brokers }: Place): CommittedLog => createKafkaLog({ brokers })

function handWritten(name: string, batch: number, checkpoint: 'none' | 'set'): Contender {
  return {
    name,
    async measure(place, records) {
      const openedAt = performance.now()
      const starts = Array.from({ length: place.partitions }, () => 0)
      const loop = await openHandWrittenLoop(place, batch, checkpoint, starts, () => undefined)
      let handled = 0
      while (handled < records) handled += await loop.step()
      const rate = (records * 1_000) / (performance.now() - openedAt)
      await loop.close()
      return rate
    },
  }
}

/** Only reads, which is the ceiling for everybody. Records a second. */
export async function measureConsumeOnly(place: Place, records: number): Promise<number> {
  const openedAt = performance.now()
  const consumer = await openRawConsumer(
    place.brokers,
    place.topic,
    Array.from({ length: place.partitions }, () => 0),
  )
  let handled = 0
  while (handled < records) handled += (await consumer.pull(1_000)).length
  const rate = (records * 1_000) / (performance.now() - openedAt)
  await consumer.close()
  return rate
}

/** r1 and r2: ours against the two hand-written loops, and all of them against reading only. */
export async function benchAgainstLoops(
  place: Place,
  records: number,
  batches: readonly number[],
  rounds: number,
): Promise<void> {
  for (const batch of batches) {
    say(`r1 and r2 at batches of ${batch}`)
    const contenders: readonly Contender[] = [
      ours('ours', batch, officialLog, 1_000),
      handWritten('no checkpoint', batch, 'none'),
      handWritten('SET checkpoint', batch, 'set'),
      { name: 'reading only', measure: measureConsumeOnly },
    ]
    const [own, none, set, ceiling] = await measureRounds(contenders, place, records, rounds)
    printRounds(`r1, batch ${batch}`, own!, none!, 'consume + pipeline, no checkpoint', 'records/s')
    printRounds(`r2, batch ${batch}`, own!, set!, 'consume + pipeline + SET checkpoint', 'records/s')
    printRounds(`r3, batch ${batch}`, own!, ceiling!, 'consume only', 'records/s')
  }
}

/** The lease: identity asked of the brokers after every fetch and every second, against an identity nobody asks for. */
export async function benchLease(place: Place, records: number, rounds: number): Promise<void> {
  say('lease on and off')
  const contenders = [ours('lease on', 500, officialLog, 1_000), ours('lease off', 500, unaskedLog, 600_000)]
  const [on, off] = await measureRounds(contenders, place, records, rounds)
  printRounds('lease, batch 500', on!, off!, 'identity taken for granted', 'records/s')
}

/** The pinned client against the official one, each under the whole projection. */
export async function benchPinned(
  place: Place,
  records: number,
  rounds: number,
  openPinned: (brokers: readonly string[]) => CommittedLog,
): Promise<void> {
  say('pinned and official client')
  const contenders = [
    ours('pinned', 500, ({ brokers }) => openPinned(brokers), 1_000),
    ours('official', 500, officialLog, 1_000),
  ]
  const [pinned, official] = await measureRounds(contenders, place, records, rounds)
  printRounds('pinned, batch 500', pinned!, official!, 'official client', 'records/s')
}

/** A log whose identity is asked for once and remembered: what a projection without a lease would do. Unsafe; for comparison. */
function unaskedLog(place: Place): CommittedLog {
  const log = officialLog(place)
  const { inspector } = log
  let survey: Promise<IdentitySurvey> | undefined
  return {
    ...log,
    inspector: {
      surveyIdentity: (topic, options) => (survey ??= inspector.surveyIdentity(topic, options)),
      readBounds: (topic, count, options) => inspector.readBounds(topic, count, options),
      readSettings: (topic, options) => inspector.readSettings(topic, options),
    },
    async openReader(request) {
      const reader = await log.openReader(request)
      let statement: Promise<ClientStatement> | undefined
      return {
        poll: (poll) => reader.poll(poll),
        pause: (partitions) => reader.pause(partitions),
        resume: (partitions) => reader.resume(partitions),
        describeTopic: (deadlineMs) => (statement ??= reader.describeTopic(deadlineMs)),
        close: () => reader.close(),
      }
    },
  }
}
