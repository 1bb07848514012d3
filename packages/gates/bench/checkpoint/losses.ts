import { Redis } from 'ioredis'
import { createCuttingProxy } from '@tidemark/testkit/service'
import type { CuttingProxy, RedisServer } from '@tidemark/testkit/service'
import type { KafkaAdmin } from '../../src/kafka-admin.ts'
import { printResult, say } from './bench-output.ts'
import type { ChildKind, ChildLine, ChildProgram } from './child-contender.ts'
import type { Place } from './contenders.ts'
import { dispatchValue, fillTopic, readDispatch } from './dispatch-records.ts'

const batch = 100

const peers = {
  none: 'consume + pipeline, group commits by itself',
  set: 'consume + pipeline + SET checkpoint',
} as const

/** What a fault does between two starts of a process. */
interface Fault {
  readonly name: string
  /** How often it strikes. */
  readonly times: number
  strike(run: { kill(): void }, server: RedisServer, proxy: CuttingProxy): Promise<void>
}

/** What was lost and what was done again. */
interface Damage {
  readonly lost: number
  readonly replayed: number
}

/** The same faults for ours and for the hand-written loops; records lost and replayed, side by side. */
export async function benchLosses(
  program: ChildProgram,
  admin: KafkaAdmin,
  server: RedisServer,
  place: Omit<Place, 'topic' | 'redisUrl'>,
  records: number,
  times: number,
): Promise<void> {
  const faults: readonly Fault[] = [
    { name: `kill -9, ${times} times`, times, strike: async (run) => run.kill() },
    {
      name: `connection cut inside a request, ${times} times`,
      times,
      strike: async (_run, _server, proxy) => cutRequest(proxy),
    },
    { name: 'Redis back empty, once', times: 1, strike: (_run, redis) => redis.restart({ wipeData: true }) },
  ]
  for (const fault of faults) {
    say(`losses: ${fault.name}`)
    const damage: Record<string, Damage> = {}
    for (const kind of ['none', 'set', 'ours'] as const) {
      const topic = await fillTopic(admin, place.partitions, records)
      damage[kind] = await suffer(program, kind, { ...place, topic }, server, records, fault)
      say(`${kind === 'ours' ? 'ours' : peers[kind]}: lost ${damage[kind].lost}, replayed ${damage[kind].replayed}`)
    }
    const ours = damage['ours']!
    if (ours.lost > 0) throw new Error(`ours lost ${ours.lost} records: ${fault.name}`)
    for (const kind of ['none', 'set'] as const) {
      for (const what of ['lost', 'replayed'] as const) {
        const [own, theirs] = [ours[what], damage[kind]![what]]
        printResult({
          metric: `${what}, ${fault.name}`,
          ours: own,
          peer: theirs,
          peerName: peers[kind],
          ...ratioOfCounts(own, theirs),
          spread: 0,
          unit: `of ${records} records`,
        })
      }
    }
  }
}

/** Counts may be 0, which nothing can be divided by. */
function ratioOfCounts(own: number, theirs: number): { readonly ratio: number; readonly ratioIs?: string } {
  if (theirs > 0) return { ratio: own / theirs }
  return own === 0 ? { ratio: 1, ratioIs: '0 to 0 is 1' } : { ratio: own, ratioIs: 'a peer of 0 is taken as 1' }
}

/** Cuts the youngest connection a little later, in the middle of what is being sent. */
function cutRequest(proxy: CuttingProxy): void {
  const youngest = proxy
    .connections()
    .filter(({ open }) => open)
    .at(-1)
  if (youngest === undefined) return
  const { connection, bytesToServer } = youngest
  proxy.program({ on: 'bytes', direction: 'to-server', bytes: bytesToServer + 9_001, connection, action: 'cut' })
}

async function suffer(
  program: ChildProgram,
  kind: ChildKind,
  place: Omit<Place, 'redisUrl'>,
  server: RedisServer,
  records: number,
  fault: Fault,
): Promise<Damage> {
  const redis = new Redis(server.url)
  redis.on('error', () => {})
  await redis.flushall()
  const proxy = await createCuttingProxy({ target: { host: server.host, port: server.port }, framing: 'bytes' })
  const reached = Array.from({ length: place.partitions }, () => 0)
  const share = records / (fault.times + 1)
  let [replayed, struck, handled] = [0, 0, 0]
  const onLine = (line: ChildLine): void => {
    if ('start' in line) line.start.forEach((offset, partition) => restartedAt(partition, offset))
    if ('startOf' in line) restartedAt(...line.startOf)
    if ('done' in line) {
      const [partition, next] = line.done
      handled += Math.max(0, next - reached[partition]!)
      reached[partition] = Math.max(reached[partition]!, next)
    }
  }
  const restartedAt = (partition: number, offset: number): void => {
    replayed += Math.max(0, reached[partition]! - offset)
  }
  for (let starts = 0; ; starts += 1) {
    if (starts > 20 * (fault.times + 1)) throw new Error(`${kind} does not get to the end: ${fault.name}`)
    const run = program.start(
      kind,
      { ...place, redisUrl: `redis://${proxy.host}:${proxy.port}` },
      batch,
      records,
      onLine,
    )
    const over = run.exit.then(() => true)
    // Somewhere in its share of the work, a little off the last batch's end.
    while (struck < fault.times) {
      const isOver = await Promise.race([over, pause(5 + ((struck * 37) % 11)).then(() => false)])
      if (isOver) break
      if (handled < share * (struck + 1)) continue
      struck += 1
      await fault.strike(run, server, proxy)
    }
    if ((await run.exit).code === 0) break
  }
  const lost = await countLost(redis, place.partitions, records)
  redis.disconnect()
  await proxy.close()
  return { lost, replayed }
}

/** Records of which a recipient does not have the conversation. */
async function countLost(redis: Redis, partitions: number, records: number): Promise<number> {
  await redis.ping().catch(() => undefined)
  const held = new Map<string, ReadonlySet<string>>()
  for (const key of await redis.keys('convs:*')) held.set(key, new Set(await redis.zrange(key, '0', '-1')))
  let lost = 0
  for (let partition = 0; partition < partitions; partition += 1) {
    for (let index = 0; index < records / partitions; index += 1) {
      const { users, conversation } = readDispatch(Buffer.from(dispatchValue(partition, index)))
      if (!users.every((user) => held.get(`convs:${user}`)?.has(conversation) === true)) lost += 1
    }
  }
  return lost
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
