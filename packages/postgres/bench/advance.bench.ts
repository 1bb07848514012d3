// The store leg alone: a step of ours against the same data written by plain multi-row upserts in a transaction, without and
// with an UPDATE of a position. Prints a JSON object a line; ratios are taken round by round in one run, in alternating order.
import pg from 'pg'
import { offsetOf, topicIdOf } from '@tidemark/core'
import type { LogIdentity } from '@tidemark/log'
import { createPostgresProjectionStore, ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import { connectPostgres } from '@tidemark/postgres/pg'
import { startPostgres } from '@tidemark/testkit/service'

interface Dispatch {
  readonly recipients: readonly string[]
  readonly createdAt: number
  readonly conversation: string
}

interface Contender {
  readonly name: string
  batch(records: readonly Dispatch[], from: number): Promise<void>
  close(): Promise<void>
}

const identity: LogIdentity = {
  clusterId: 'bench',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 1,
}
const rounds = Number(process.env['TIDEMARK_BENCH_ROUNDS'] ?? 5)
const recordsPerRound = Number(process.env['TIDEMARK_BENCH_RECORDS'] ?? 5_000)

/** A fixed sequence, so that all contenders write the same. */
function makeRecords(count: number): readonly Dispatch[] {
  let state = 42
  const draw = (below: number): number => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    // The low bits of such a generator repeat after a few draws.
    return Math.floor(state / 1_024) % below
  }
  return Array.from({ length: count }, (_, index) => ({
    recipients: [1, 2, 3].map(() => `convs:user-${draw(1_000)}`),
    createdAt: 1_700_000_000_000 + index,
    conversation: `conversation-${draw(5_000)}`,
  }))
}

async function plainContender(url: string, withPosition: boolean): Promise<Contender> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const table = withPosition ? 'plain_with' : 'plain_without'
  await client.query(`CREATE TABLE ${table} (key text, member text, score bigint, PRIMARY KEY (key, member))`)
  await client.query(`CREATE TABLE ${table}_position (id int PRIMARY KEY, next bigint)`)
  await client.query(`INSERT INTO ${table}_position VALUES (0, 0)`)
  const upsert =
    `INSERT INTO ${table} AS t SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[]) ` +
    `ON CONFLICT (key, member) DO UPDATE SET score = excluded.score WHERE t.score < excluded.score`
  return {
    name: withPosition ? 'upserts and a position' : 'upserts without a position',
    async batch(records, from) {
      // One row may be met only once by a statement, so a plain writer has to fold as well.
      const rows = new Map<string, readonly [string, string, number]>()
      for (const { recipients, createdAt, conversation } of records) {
        for (const key of recipients) rows.set(`${key} ${conversation}`, [key, conversation, createdAt])
      }
      const all = [...rows.values()]
      const values = [all.map(([key]) => key), all.map(([, member]) => member), all.map(([, , score]) => score)]
      if (!withPosition) return void (await client.query({ name: 'plain', text: upsert, values }))
      await client.query('BEGIN')
      await client.query({ name: 'plain', text: upsert, values })
      await client.query({
        name: 'position',
        text: `UPDATE ${table}_position SET next = $1 WHERE id = 0`,
        values: [from + records.length],
      })
      await client.query('COMMIT')
    },
    close: () => client.end(),
  }
}

async function storeContender(url: string): Promise<Contender> {
  const database = connectPostgres(url)
  await ensurePostgresTables({ database })
  const store = createPostgresProjectionStore({ database, namespace: 'bench', isEmpty: async () => true })
  const { fences } = await store.claim({ topic: identity.topic, partitionCount: 1 })
  const created = await store.bootstrap({ identity, createMeta: true, partitions: [0], fences })
  if (created.kind !== 'created') throw new Error(`bootstrap: ${created.kind}`)
  const { incarnation } = await store.read({ topic: identity.topic, partitionCount: 1 })
  return {
    name: 'tidemark transactional',
    async batch(records, from) {
      const writes = store.newWrites()
      for (const { recipients, createdAt, conversation } of records) {
        for (const key of recipients) writes.writer.zadd(key, 'GT', createdAt, conversation)
      }
      const to = offsetOf(from + records.length)
      const outcome = await store.advance({
        identity,
        partition: 0,
        fence: fences.get(0)!,
        process: incarnation.process,
        from: offsetOf(from),
        to,
        writes,
        witness: { offset: offsetOf(to - 1n), leaderEpoch: 0, digest: 'ab'.repeat(32) },
        quarantine: [],
      })
      if (outcome.kind !== 'advanced') throw new Error(`advance: ${outcome.kind}`)
    },
    async close() {
      await store.close()
      await database.close()
    },
  }
}

async function timeOf(
  contender: Contender,
  records: readonly Dispatch[],
  start: number,
  batch: number,
): Promise<number> {
  const startedMs = performance.now()
  for (let at = 0; at < records.length; at += batch) await contender.batch(records.slice(at, at + batch), start + at)
  return records.length / ((performance.now() - startedMs) / 1_000)
}

const median = (values: readonly number[]): number => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!

/** The distance of the quartiles as a share of the median. */
const spread = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))]!
  return (at(0.75) - at(0.25)) / median(values)
}

const server = await startPostgres({ config: { fsync: 'on', full_page_writes: 'on' } })
try {
  const plain = await plainContender(server.url, false)
  const position = await plainContender(server.url, true)
  const ours = await storeContender(server.url)
  const contenders = [plain, position, ours]
  let start = 0
  for (const batch of [1, 100, 500]) {
    const count = batch === 1 ? Math.min(500, recordsPerRound) : recordsPerRound
    const rates = new Map<Contender, number[]>(contenders.map((each) => [each, []]))
    for (let round = 0; round <= rounds; round += 1) {
      const records = makeRecords(count)
      for (const contender of round % 2 === 0 ? contenders : [...contenders].reverse()) {
        const rate = await timeOf(contender, records, start, batch)
        // The first round warms up.
        if (round > 0) rates.get(contender)!.push(rate)
      }
      start += count
    }
    for (const [metric, peer] of [
      ['r1', plain],
      ['r2', position],
    ] as const) {
      const [mine, theirs] = [rates.get(ours)!, rates.get(peer)!]
      const ratios = mine.map((rate, index) => rate / theirs[index]!)
      const line = {
        bench: 'postgres/advance',
        metric: `${metric}, ${ours.name}, batch ${batch}`,
        ours: Math.round(median(mine)),
        peer: Math.round(median(theirs)),
        peerName: peer.name,
        ratio: Number(median(ratios).toFixed(3)),
        ratioIs: `median of ${ratios.length} rounds`,
        spread: Number(spread(ratios).toFixed(3)),
        unit: 'records/s',
      }
      process.stdout.write(`${JSON.stringify(line)}\n`)
    }
  }
  for (const contender of contenders) await contender.close()
} finally {
  await server.close()
}
