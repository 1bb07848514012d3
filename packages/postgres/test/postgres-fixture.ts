import { checkpointKey, metaKey, namespaceOf } from '@tidemark/checkpoint'
import type { AdvanceOutcome, AdvanceRequest, QuarantineEntry } from '@tidemark/checkpoint'
import { offsetOf, topicIdOf } from '@tidemark/core'
import type { Fence, LogIdentity, TailWitness } from '@tidemark/log'
import { createPostgresProjectionStore, ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import type {
  PostgresDatabase,
  PostgresProjectionStore,
  PostgresProjectionStoreOptions,
  TransactionalWriter,
} from '@tidemark/postgres/checkpoint'
import type { StoreDamage } from '@tidemark/testkit/contract'

/** The log the tests pretend to read from. */
export const identity: LogIdentity = {
  clusterId: 'kP0Zb6cXQx-postgres',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 3,
}

export const readRequest = { topic: identity.topic, partitionCount: identity.partitionCount }

let schemas = 0

/** A schema no other test uses. */
export function freshSchema(): string {
  schemas += 1
  return `t${schemas}_${process.pid}`
}

/** Runs one statement or script as an operator's shell would; rows come back as texts by name. */
export type Admin = (text: string, values?: readonly string[]) => Promise<readonly Readonly<Record<string, unknown>>[]>

/** A shell over a database of the store, on connections of its own. */
export function adminOf(database: PostgresDatabase): Admin {
  return async (text, values = []) => {
    const connection = await database.acquire()
    try {
      const result = await connection.query({ text, values })
      connection.release()
      return result.rows
    } catch (error) {
      connection.destroy()
      throw error
    }
  }
}

export function openStore(
  database: PostgresDatabase,
  schema: string,
  more: Partial<PostgresProjectionStoreOptions> = {},
): PostgresProjectionStore {
  return createPostgresProjectionStore({ database, schema, namespace: 'ns', isEmpty: async () => true, ...more })
}

/** A store with claimed fences. */
export interface Claimed {
  readonly store: PostgresProjectionStore
  readonly fences: ReadonlyMap<number, Fence>
  readonly process: string
}

export async function claim(store: PostgresProjectionStore): Promise<Claimed> {
  const { fences } = await store.claim(readRequest)
  const { incarnation } = await store.read(readRequest)
  return { store, fences, process: incarnation.process }
}

/** Tables, claimed fences, meta and three checkpoints at 0. */
export async function start(store: PostgresProjectionStore): Promise<Claimed> {
  const claimed = await claim(store)
  const { fences } = claimed
  const outcome = await store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })
  if (outcome.kind !== 'created') throw new Error(`bootstrap: ${JSON.stringify(outcome)}`)
  return claimed
}

/** A fresh schema with a started store in it. */
export async function startFresh(
  database: PostgresDatabase,
  more: Partial<PostgresProjectionStoreOptions> = {},
): Promise<Claimed & { readonly schema: string }> {
  const schema = more.schema ?? freshSchema()
  await ensurePostgresTables({
    database,
    schema,
    ...(more.dataSchema === undefined ? {} : { dataSchema: more.dataSchema }),
  })
  return { ...(await start(openStore(database, schema, more))), schema }
}

export interface StepWords {
  readonly from: number | bigint
  readonly to: number | bigint
  readonly partition?: number
  readonly write?: (writer: TransactionalWriter) => void
  readonly witness?: TailWitness
  readonly quarantine?: readonly QuarantineEntry[]
  readonly process?: string
}

export function request(claimed: Claimed, step: StepWords): AdvanceRequest<TransactionalWriter> {
  const partition = step.partition ?? 0
  const writes = claimed.store.newWrites()
  step.write?.(writes.writer)
  return {
    identity,
    partition,
    fence: claimed.fences.get(partition)!,
    process: step.process ?? claimed.process,
    from: offsetOf(step.from),
    to: offsetOf(step.to),
    writes,
    witness: step.witness ?? witnessAt(BigInt(step.to) - 1n),
    quarantine: step.quarantine ?? [],
  }
}

export function advance(claimed: Claimed, step: StepWords): Promise<AdvanceOutcome> {
  return claimed.store.advance(request(claimed, step))
}

function witnessAt(offset: bigint): TailWitness {
  const digest = offset.toString(16).padStart(64, '0')
  return { offset: offsetOf(offset < 0n ? 0n : offset), leaderEpoch: 3, digest }
}

const namespace = namespaceOf('ns')
const side = (kind: string, topic: string, partition: number): string => `ns:${kind}:${topic}:${partition}`

/** Changes to stored bytes behind the back of the store `ns`. */
export function damageOf(admin: Admin, schema: string, dataPrefix: string): StoreDamage {
  const table = (name: string): string => `"${schema}".tidemark_${name}`
  const setColumn = async (name: string, key: string, column: string, text: string | undefined): Promise<void> => {
    const known = text === undefined ? 'NULL' : `'${escaped(text)}'`
    await admin(`ALTER TABLE ${table(name)} ADD COLUMN IF NOT EXISTS ${column} text`)
    await admin(
      `INSERT INTO ${table(name)} (key, ${column}) VALUES ('${key}', ${known}) ON CONFLICT (key) DO UPDATE SET ${column} = excluded.${column}`,
    )
  }
  const remove = async (name: string, key: string): Promise<void> => {
    await admin(`DELETE FROM ${table(name)} WHERE key = $1`, [key])
  }
  return {
    setMetaField: (field, text) => setColumn('meta', metaKey(namespace), field, text),
    removeMeta: () => remove('meta', metaKey(namespace)),
    setCheckpointField: (topic, partition, field, text) =>
      setColumn('checkpoint', checkpointKey(namespace, topic, partition), field, text),
    removeCheckpoint: (topic, partition) => remove('checkpoint', checkpointKey(namespace, topic, partition)),
    setFence: (topic, partition, text) => setColumn('fence', side('fence', topic, partition), 'fence', text),
    setWitness: (topic, partition, text) => setColumn('fence', side('fence', topic, partition), 'witness', text),
    // A table whose primary key was lost, as by a restore that failed halfway, holds a row twice.
    async putWrongKind(target) {
      const name = target === 'meta' ? 'meta' : 'checkpoint'
      const key = target === 'meta' ? metaKey(namespace) : checkpointKey(namespace, target.topic, target.partition)
      await admin(`ALTER TABLE ${table(name)} DROP CONSTRAINT IF EXISTS tidemark_${name}_pkey`)
      await admin(`INSERT INTO ${table(name)} SELECT * FROM ${table(name)} WHERE key = $1`, [key])
      return key
    },
    async putString(key, text) {
      const put = `INSERT INTO ${table('data')} (key, kind, name, value) VALUES ($1, 't', '', $2) ON CONFLICT (key, kind, name) DO UPDATE SET value = excluded.value`
      await admin(put, [`${dataPrefix}${key}`, text])
    },
  }
}

/** Stored texts hold no U+0000; the store's own escape stands for it. */
function escaped(text: string): string {
  return text.replaceAll('\u001a', '\u001a1').replaceAll('\u0000', '\u001a0').replaceAll("'", "''")
}

/** Every row of every table of a schema, as one text. */
export async function fingerprint(admin: Admin, schema: string): Promise<string> {
  const names = ['meta', 'checkpoint', 'fence', 'incarnation', 'quarantine', 'data', 'twin']
  const parts = names.map((name) => `SELECT '${name} ' || to_jsonb(r)::text AS row FROM "${schema}".tidemark_${name} r`)
  const rows = await admin(`SELECT row FROM (${parts.join(' UNION ALL ')}) x ORDER BY row COLLATE "C"`)
  return rows.map(({ row }) => String(row)).join('\n')
}
