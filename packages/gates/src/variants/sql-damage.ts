import type { StoreDamage } from '@tidemark/testkit/contract'
import type { RunSql } from './run-sql.ts'

/** Changes to stored rows that no store would make. */
export function sqlDamage(namespace: string, run: RunSql): StoreDamage {
  const meta = `${namespace}:meta`
  const keyOf = (kind: string, topic: string, partition: number): string => `${namespace}:${kind}:${topic}:${partition}`
  const setColumn = async (table: string, key: string, column: string, text: string | undefined): Promise<void> => {
    if (!/^[a-z_]+$/.test(column)) throw new Error(`no column ${column}`)
    // A field that this version does not know is a column that somebody added.
    if (table !== 'tidemark_fence') await run(`ALTER TABLE tidemark.${table} ADD COLUMN IF NOT EXISTS ${column} text`)
    const values = [key, text ?? null]
    const set = `INSERT INTO tidemark.${table} (key, ${column}) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET ${column} = $2`
    await run(set, values)
  }
  const setTwin = async (key: string, text: string | undefined): Promise<void> => {
    const set =
      'INSERT INTO gates_data.tidemark_twin (key, next_offset) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET next_offset = $2'
    await run(set, [key, text ?? null])
  }
  const remove = async (table: string, key: string): Promise<void> => {
    await run(`DELETE FROM tidemark.${table} WHERE key = $1`, [key])
  }
  return {
    setMetaField: (field, text) => setColumn('tidemark_meta', meta, field, text),
    removeMeta: () => remove('tidemark_meta', meta),
    async setCheckpointField(topic, partition, field, text) {
      await setColumn('tidemark_checkpoint', keyOf('checkpoint', topic, partition), field, text)
      // The data carry the position too; only a state in which both agree shows what the planner says of the position.
      if (field === 'next_offset') await setTwin(keyOf('twin', topic, partition), text)
    },
    removeCheckpoint: (topic, partition) => remove('tidemark_checkpoint', keyOf('checkpoint', topic, partition)),
    setFence: (topic, partition, text) => setColumn('tidemark_fence', keyOf('fence', topic, partition), 'fence', text),
    setWitness: (topic, partition, text) =>
      setColumn('tidemark_fence', keyOf('fence', topic, partition), 'witness', text),
    async putWrongKind(target) {
      throw new Error(`a row has one kind: ${target === 'meta' ? 'meta' : target.topic}`)
    },
    async putString(key) {
      throw new Error(`no row stands for ${key}`)
    },
  }
}
