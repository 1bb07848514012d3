import { describe, expect, it } from 'vitest'
import type { PostgresConnection, PostgresDatabase, PostgresResult } from '@tidemark/postgres/checkpoint'
import { createPostgresSession } from '../src/database/postgres-session.ts'

interface Script {
  /** What a statement comes to, in turn; an Error is thrown. */
  readonly answers?: readonly (string | Error)[]
  readonly acquireMs?: number
}

/** A database by script, for what real servers do too seldom. */
function scripted(script: Script) {
  const events: string[] = []
  const answers = [...(script.answers ?? [])]
  const answer = async (): Promise<PostgresResult> => {
    const next = answers.shift() ?? 'OK'
    if (next instanceof Error) throw next
    return { command: next, rows: [], rowCount: 0 }
  }
  const connection = (): PostgresConnection => ({
    async query(statement) {
      events.push(statement.text)
      return answer()
    },
    async script(text) {
      events.push(text.split(' ')[0]!)
      return [await answer()]
    },
    release: () => void events.push('release'),
    destroy: () => void events.push('destroy'),
  })
  const database: PostgresDatabase = {
    address: 'scripted',
    expectedDatabase: 'd',
    instance: undefined,
    durability: undefined,
    deadlineMs: 100,
    hasSessionTimeouts: true,
    async acquire() {
      if (script.acquireMs !== undefined) await new Promise((resolve) => setTimeout(resolve, script.acquireMs))
      return connection()
    },
    close: async () => undefined,
  }
  return { session: createPostgresSession(database), events }
}

const failing = (code: string): Error => Object.assign(new Error('said so'), { code })
const one = { text: 'one', values: [] }

describe('a session', () => {
  it('[PGS-2] gives back a connection that comes too late, and does nothing on it', async () => {
    const { session, events } = scripted({ acquireMs: 200 })
    await expect(session.run('read', (runner) => runner.query(one))).rejects.toMatchObject({
      code: 'TM_POSTGRES_TIMEOUT',
    })
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(events).toEqual(['release'])
  })

  it('[PGS-2] drops a connection whose answer did not come', async () => {
    const { session, events } = scripted({})
    await expect(session.run('read', () => new Promise(() => undefined))).rejects.toMatchObject({
      code: 'TM_POSTGRES_TIMEOUT',
      details: { deadlineMs: 100 },
    })
    expect(events).toEqual(['destroy'])
  })

  it('[PGS-12] makes again what the server undid, four times at most', async () => {
    const twice = scripted({
      answers: ['OK', failing('40P01'), 'OK', 'OK', failing('40001'), 'OK', 'OK', 'OK', 'COMMIT'],
    })
    const work = async (runner: Parameters<Parameters<typeof twice.session.run>[1]>[0]) =>
      runner.transaction(async () => {
        await runner.query(one)
        return { value: 'done', keep: true }
      })
    expect(await twice.session.run('advance', work)).toBe('done')
    const attempt = ['BEGIN', 'one', 'ROLLBACK', 'release']
    expect(twice.events).toEqual([...attempt, ...attempt, 'BEGIN', 'one', 'COMMIT', 'release'])
    const always = scripted({ answers: [1, 2, 3, 4].flatMap(() => ['OK', failing('40P01'), 'OK']) })
    await expect(always.session.run('advance', work)).rejects.toMatchObject({ code: 'TM_POSTGRES_DEADLOCK' })
    expect(always.events.filter((event) => event === 'one')).toHaveLength(4)
  })

  it('[PGS-9] a COMMIT that the server turned into a rollback is no success', async () => {
    const { session } = scripted({ answers: ['OK', 'ROLLBACK'] })
    const work = session.run('advance', (runner) => runner.transaction(async () => ({ value: 1, keep: true })))
    await expect(work).rejects.toMatchObject({ code: 'TM_POSTGRES_TRANSACTION_ABORTED' })
  })

  it('[PGS-11] a connection lost at COMMIT is an error of unknown outcome, and nothing is sent again', async () => {
    const { session, events } = scripted({ answers: ['OK', failing('57P01')] })
    const work = session.run('advance', (runner) => runner.transaction(async () => ({ value: 1, keep: true })))
    await expect(work).rejects.toMatchObject({ code: 'TM_POSTGRES_CONNECTION_LOST', retriable: true })
    expect(events).toEqual(['BEGIN', 'COMMIT', 'destroy'])
  })
})
