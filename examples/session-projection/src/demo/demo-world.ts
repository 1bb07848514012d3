import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { openDispatchLog, openSessionBackend } from '../backend/open-session-backend.ts'
import type { SessionBackend } from '../backend/session-backend.ts'
import { createTopic, deleteTopic } from '../backend/topic-admin.ts'
import type { CommittedLog } from '@tidemark/log'
import type { LogPlace, StorePlace } from '../settings/place-settings.ts'

/** Where the demo happens, under names of its own. */
export interface DemoWorld {
  readonly title: string
  readonly log: LogPlace
  readonly topic: string
  /** Arguments that start a projector in this world. */
  readonly projectorArgs: readonly string[]
  openBackend(): Promise<SessionBackend>
  openLog(): Promise<CommittedLog>
  createTopic(partitions: number): Promise<void>
  deleteTopic(): Promise<void>
  /** Removes everything the demo made, unless it was asked to keep it. */
  cleanUp(): Promise<void>
}

/** Records in one step: the most that a crash may apply again, per partition. */
export const DEMO_BATCH_RECORDS_MAX = 25

/** Chooses real services when both addresses are there, the embedded ones otherwise. */
export function chooseDemoWorld(argv: readonly string[], env: NodeJS.ProcessEnv): DemoWorld {
  const { values } = parseArgs({ args: [...argv], options: { keep: { type: 'boolean' } } })
  const keep = values.keep === true
  const id = randomBytes(4).toString('hex')
  const { KAFKA_BROKERS: brokers = '', REDIS_URL: url = '', TIDEMARK_BACKEND: backend } = env
  if (backend !== 'embedded' && brokers !== '' && url !== '') return realWorld(id, brokers, url, keep)
  if (backend === 'real') throw new Error('TIDEMARK_BACKEND=real needs KAFKA_BROKERS and REDIS_URL')
  return embeddedWorld(id, keep)
}

function realWorld(id: string, brokers: string, url: string, keep: boolean): DemoWorld {
  const log: LogPlace = { kind: 'kafka', brokers: brokers.split(','), security: {}, client: 'official' }
  const store: StorePlace = { kind: 'redis', url, form: 'atomic' }
  const args = ['--backend', 'real', '--store', 'redis', '--brokers', brokers, '--form', 'atomic']
  const parts = newWorld({ id, log, store, args, title: `real services: Kafka ${brokers}, Redis ${new URL(url).host}` })
  const removeKeys = async (): Promise<void> => {
    const { removeRedisKeys } = await import('./remove-redis-keys.ts')
    await removeRedisKeys(url, [`${parts.namespace}:`, parts.dataPrefix])
  }
  return {
    ...parts,
    async cleanUp() {
      if (keep) return
      await parts.deleteTopic()
      await removeKeys()
    },
  }
}

function embeddedWorld(id: string, keep: boolean): DemoWorld {
  const dataDir = mkdtempSync(join(tmpdir(), 'session-demo-'))
  const log: LogPlace = { kind: 'embedded', dataDir }
  const store: StorePlace = { kind: 'pglite', directory: join(dataDir, 'pglite'), schema: 'tidemark' }
  const args = ['--backend', 'embedded', '--store', 'pglite', '--data-dir', dataDir]
  const title = `embedded: a log in files and a store on PGlite under ${dataDir} (no server)`
  const parts = newWorld({ id, log, store, args, title })
  return {
    ...parts,
    async cleanUp() {
      if (!keep) rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

interface WorldParts {
  readonly id: string
  readonly title: string
  readonly log: LogPlace
  readonly store: StorePlace
  readonly args: readonly string[]
}

function newWorld({ id, title, log, store, args }: WorldParts) {
  const names = { topic: `session-demo-${id}`, namespace: `session_demo_${id}`, dataPrefix: `demo-${id}:` }
  const decided = ['--ready-target', 'hw', '--undecodable', 'quarantine', '--lease-ms', '1000']
  const named = ['--topic', names.topic, '--namespace', names.namespace, '--data-prefix', names.dataPrefix]
  const sized = ['--batch-records-max', String(DEMO_BATCH_RECORDS_MAX), '--port', '0', '--io-deadline-ms', '20000']
  return {
    ...names,
    title,
    log,
    projectorArgs: [...args, ...decided, ...named, ...sized, '--log-level', 'debug'],
    openBackend: () => openSessionBackend({ ...names, log, store, ioDeadlineMs: 20_000, createTables: false }),
    openLog: () => openDispatchLog(log),
    createTopic: (partitions: number) => createTopic(log, names.topic, partitions),
    deleteTopic: () => deleteTopic(log, names.topic),
  }
}
