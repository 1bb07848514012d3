import { AssertionError } from 'node:assert/strict'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { PostgresDatabase } from '@tidemark/postgres/checkpoint'
import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import { startPostgres } from '@tidemark/testkit/service'
import type { PostgresServer } from '@tidemark/testkit/service'
import { createPostgresWorld } from './postgres-store-world.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(async () => {
  await server?.close()
})

registerCases(projectionStoreCases, () => createPostgresWorld(server), {
  describe,
  it,
  subject: 'postgres',
  capabilities: {
    damage: true,
    fingerprint: true,
    restart: true,
    'empty-restart': true,
    'full-vocabulary': true,
    'fenced-writes': true,
    rollback: true,
    expiry: false,
    'quarantine-reading': true,
    'whole-bootstrap': true,
    'fenced-meta': true,
    'shared-keys': true,
    'one-process': true,
    'data-apart': false,
  },
})

/** A bug planted into the statements as they leave the store, and the case that must find it. */
interface Mutant {
  readonly name: string
  readonly caughtBy: string
  /** The statement as a store with the bug would send it. */
  readonly change: (text: string) => string
}

const always = (condition: RegExp) => (text: string) => text.replace(condition, '($& OR true)')
const mutants: readonly Mutant[] = [
  { name: 'the fence is not compared', caughtBy: 'PST-39', change: always(/split_part\(\(found[^=]*= \$\d+/) },
  { name: 'meta is not compared', caughtBy: 'PST-35', change: always(/found\.metas = \$\d+::text::jsonb/) },
  {
    name: 'identity and position are not compared',
    caughtBy: 'PST-34',
    change: always(/found\.checkpoints = \$\d+::text::jsonb/),
  },
  {
    name: 'the previous position is not compared',
    caughtBy: 'PST-31',
    change: always(/found\.checkpoints = \$\d+::text::jsonb/),
  },
  { name: 'the run of the server is not compared', caughtBy: 'PST-64', change: always(/found\.run = \$\d+/) },
  {
    name: 'another kind under a key is written over',
    caughtBy: 'PST-61',
    change: always(/NOT EXISTS \(SELECT FROM wrong\)/),
  },
  {
    name: 'the data is written whether the step holds or not',
    caughtBy: 'PST-31',
    change: (text) => text.replaceAll(/(INSERT INTO "\w+"\.tidemark_data.*?) r, held /g, '$1 r '),
  },
  {
    name: 'scores are replaced instead of kept greater',
    caughtBy: 'PST-76',
    change: (text) => text.replace(' WHERE d.score < excluded.score', ''),
  },
  {
    name: 'the witness is not written',
    caughtBy: 'PST-30',
    change: (text) => text.replace('SET witness = ', 'SET witness = NULL || '),
  },
  {
    name: 'a resent quarantine entry is not stored',
    caughtBy: 'PST-45',
    change: (text) => text.replace(/(INSERT INTO "\w+"\.tidemark_quarantine.*?, held) /, '$1 WHERE false '),
  },
  {
    name: 'what must be undone is kept',
    caughtBy: 'PST-16',
    change: (text) => (text === 'ROLLBACK' ? 'COMMIT' : text),
  },
  {
    name: 'numbers are compared as text',
    caughtBy: 'PST-72',
    change: (text) => text.replace('d.value::numeric < excluded.value::numeric', 'd.value < excluded.value'),
  },
  {
    name: 'cleared keys keep their members',
    caughtBy: 'PST-75',
    change: (text) => text.replace(/(cleared AS \(DELETE .*?WHERE )/, '$1false AND '),
  },
]

describe('planted bugs of the transactional form', () => {
  for (const { name, caughtBy, change } of mutants) {
    it(`[TST-8] ${caughtBy} finds: ${name}`, async () => {
      let struck = false
      const planted = (text: string): string => {
        const changed = change(text)
        struck ||= changed !== text
        return changed
      }
      const law = projectionStoreCases.find(({ id }) => id === caughtBy)!
      const ended = await law
        .run(() => createPostgresWorld(server, (database) => withBug(database, planted)))
        .then(
          () => 'passed',
          (error: unknown) => (error instanceof AssertionError ? 'law broken' : error),
        )
      expect([struck, ended]).toEqual([true, 'law broken'])
    })
  }
})

/** A database whose statements are changed on their way; names are dropped, since a name stands for one text. */
function withBug(database: PostgresDatabase, change: (text: string) => string): PostgresDatabase {
  return {
    ...database,
    async acquire() {
      const connection = await database.acquire()
      return {
        query: ({ text, values }) => connection.query({ text: change(text), values }),
        script: (text) => connection.script(change(text)),
        release: () => connection.release(),
        destroy: () => connection.destroy(),
      }
    },
  }
}
