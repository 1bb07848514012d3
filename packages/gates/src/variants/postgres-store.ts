import { connectPostgres } from '@tidemark/postgres/pg'
import { createCuttingProxy, sharedPostgresUrl } from '@tidemark/testkit/service'
import type { CuttingProxy } from '@tidemark/testkit/service'
import pg from 'pg'
import { ensureSqlTables, openSqlWorld } from './sql-world.ts'
import type { RunSql } from './run-sql.ts'
import type { StoreLine, StoreSide } from './store-side.ts'

/** Where a step on Postgres can be cut: a direction, and how many bytes of the step pass. */
const cuts = {
  'before the server sees it': { direction: 'to-server', bytes: () => 0 },
  'inside the request': { direction: 'to-server', bytes: (step) => Math.floor(step.toServer / 2) },
  'inside the replies': { direction: 'to-client', bytes: (step) => Math.floor(step.toClient / 2) },
  'after the commit, inside its reply': { direction: 'to-client', bytes: (step) => step.toClient - 3 },
} as const satisfies Record<string, Cut>

interface Cut {
  readonly direction: 'to-server' | 'to-client'
  readonly bytes: (step: StepBytes) => number
}

/** What one step carried over its connection. */
interface StepBytes {
  readonly toServer: number
  readonly toClient: number
}

/** A Postgres server; checkpoints move in the transaction of the data, which may count. */
export const postgresStore: StoreSide = {
  name: 'postgres',
  writeModel: 'transactional',
  keyed: false,
  cuts: Object.keys(cuts),
  async open(place) {
    const url = place.address ?? (await sharedPostgresUrl())
    const pool = new pg.Pool({ connectionString: url, max: 2, allowExitOnIdle: true })
    const run: RunSql = async (text, values = []) => (await pool.query<Record<string, unknown>>(text, [...values])).rows
    const databases = new Set<ReturnType<typeof connectPostgres>>()
    const connect = (address: string, deadlineMs?: number): ReturnType<typeof connectPostgres> => {
      const database = connectPostgres(address, deadlineMs === undefined ? {} : { deadlineMs })
      databases.add(database)
      return database
    }
    const direct = connect(url)
    await ensureSqlTables(direct, run)
    return openSqlWorld(place, {
      run,
      forProjection: ({ storeAddress, commandDeadlineMs }) =>
        storeAddress === undefined && commandDeadlineMs === undefined
          ? direct
          : connect(storeAddress ?? url, commandDeadlineMs),
      openLine: () => openPostgresLine(url),
      async close() {
        await Promise.all([...databases].map((database) => database.close()))
        await pool.end()
      },
    })
  },
}

async function openPostgresLine(url: string): Promise<StoreLine> {
  const address = new URL(url)
  const target = { host: address.hostname, port: Number(address.port) }
  const proxy = await createCuttingProxy({ target, framing: 'bytes' })
  address.hostname = proxy.host
  address.port = String(proxy.port)
  let marked: StepBytes = { toServer: 0, toClient: 0 }
  return {
    address: address.href,
    markStep() {
      marked = passed(proxy)
    },
    cutNextStep(name) {
      const now = passed(proxy)
      const step = { toServer: now.toServer - marked.toServer, toClient: now.toClient - marked.toClient }
      const { direction, bytes } = cuts[name as keyof typeof cuts]
      programAll(proxy, direction, bytes(step))
    },
    cutMidStep: () => programAll(proxy, 'to-server', 20_000),
    silence: () => proxy.silence(),
    close: () => proxy.close(),
  }
}

function passed(proxy: CuttingProxy): StepBytes {
  const counts = proxy.connections()
  return {
    toServer: counts.reduce((sum, { bytesToServer }) => sum + bytesToServer, 0),
    toClient: counts.reduce((sum, { bytesToClient }) => sum + bytesToClient, 0),
  }
}

/** A pool may use any of its connections for the next step, so each is cut at so many bytes from here on. */
function programAll(proxy: CuttingProxy, direction: Cut['direction'], bytes: number): void {
  for (const { connection, open, bytesToServer, bytesToClient } of proxy.connections()) {
    if (!open) continue
    const before = direction === 'to-server' ? bytesToServer : bytesToClient
    proxy.program({ on: 'bytes', direction, bytes: before + bytes, connection, action: 'cut' })
  }
}
