import type { ReadyTarget } from '@tidemark/checkpoint'
import { SESSION_KEY_PREFIX } from '../session-key.ts'
import { logSettingSpecs, readLogPlace, readStorePlace, storeSettingSpecs } from './place-settings.ts'
import type { LogPlace, StorePlace } from './place-settings.ts'
import { readSettings } from './setting-reader.ts'
import type { SettingReader, SettingSpec, SettingsReading } from './setting-reader.ts'

/** Everything the projector needs to know. What decides correctness has no default. */
export interface ProjectorSettings {
  readonly log: LogPlace
  readonly store: StorePlace
  readonly topic: string
  readonly namespace: string
  readonly dataPrefix: string
  /** Whether missing tables are created; for PGlite also its database. */
  readonly createTables: boolean
  readonly readyTarget: ReadyTarget
  readonly undecodable: 'stop' | 'quarantine'
  readonly leaseMs: number
  readonly batchRecordsMax: number
  readonly stallMsMax: number
  /** The longest one question to log or store may take. */
  readonly ioDeadlineMs: number
  /** The longest a start may take before it is given up. */
  readonly startDeadlineMs: number
  /** How long a dirty projector keeps answering 503 with the reason before it exits. */
  readonly dirtyGraceMs: number
  readonly host: string
  /** 0 lets the system choose. */
  readonly port: number
  readonly logLevel: LogLevel
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** How much is logged. */
export type LogLevel = (typeof logLevels)[number]

const specs = {
  ...logSettingSpecs,
  ...storeSettingSpecs,
  createTables: {
    flag: 'create-tables',
    env: 'SESSION_CREATE_TABLES',
    help: 'on or off: missing tables are created; default on for PGlite, off for Postgres',
  },
  readyTarget: { flag: 'ready-target', env: 'SESSION_READY_TARGET', help: 'hw (all committed at start) or lso' },
  undecodable: { flag: 'undecodable', env: 'SESSION_UNDECODABLE', help: 'stop or quarantine' },
  leaseMs: { flag: 'lease-ms', env: 'SESSION_LEASE_MS', help: 'how often identity and store are re-read' },
  batchRecordsMax: { flag: 'batch-records-max', env: 'SESSION_BATCH_RECORDS_MAX', help: 'records a step; default 500' },
  stallMsMax: { flag: 'stall-ms-max', env: 'SESSION_STALL_MS_MAX', help: 'longest stall before dirty; default 30000' },
  ioDeadlineMs: { flag: 'io-deadline-ms', env: 'SESSION_IO_DEADLINE_MS', help: 'longest question; default 10000' },
  startDeadlineMs: {
    flag: 'start-deadline-ms',
    env: 'SESSION_START_DEADLINE_MS',
    help: 'longest start; default 60000',
  },
  dirtyGraceMs: { flag: 'dirty-grace-ms', env: 'SESSION_DIRTY_GRACE_MS', help: '503 before the exit; default 30000' },
  host: { flag: 'host', env: 'SESSION_HOST', help: 'HTTP address; default 127.0.0.1' },
  port: { flag: 'port', env: 'SESSION_PORT', help: 'HTTP port, 0 for any; default 8080' },
  logLevel: { flag: 'log-level', env: 'LOG_LEVEL', help: `${logLevels.join(', ')}; default info` },
} as const satisfies Record<string, SettingSpec>

/** Reads the projector's settings, or says everything that is wrong with them. */
export function readProjectorSettings(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): SettingsReading<ProjectorSettings> {
  return readSettings('projector', specs, argv, env, build)
}

function build(read: SettingReader): ProjectorSettings {
  const stallMsMax = read.whole('stallMsMax', { min: 100, max: 3_600_000 }, 30_000)
  const [log, store] = [readLogPlace(read), readStorePlace(read)]
  const settings: ProjectorSettings = {
    log,
    store,
    topic: read.text('topic'),
    namespace: read.text('namespace'),
    dataPrefix: read.text('dataPrefix', ''),
    createTables: read.choice('createTables', ['on', 'off'], store.kind === 'pglite' ? 'on' : 'off') === 'on',
    readyTarget: read.choice('readyTarget', ['hw', 'lso']),
    undecodable: read.choice('undecodable', ['stop', 'quarantine']),
    leaseMs: read.whole('leaseMs', { min: 10, max: 600_000 }),
    batchRecordsMax: read.whole('batchRecordsMax', { min: 1, max: 10_000 }, 500),
    stallMsMax,
    ioDeadlineMs: read.whole('ioDeadlineMs', { min: 100, max: stallMsMax }, Math.min(10_000, stallMsMax)),
    startDeadlineMs: read.whole('startDeadlineMs', { min: 1_000, max: 3_600_000 }, 60_000),
    dirtyGraceMs: read.whole('dirtyGraceMs', { min: 0, max: 3_600_000 }, 30_000),
    host: read.text('host', '127.0.0.1'),
    port: read.whole('port', { min: 0, max: 65_535 }, 8080),
    logLevel: read.choice('logLevel', logLevels, 'info'),
  }
  const sessionKeys = `${settings.dataPrefix}${SESSION_KEY_PREFIX}`
  const checkpointKeys = `${settings.namespace}:`
  // A user's id could then spell a checkpoint key; the store refuses such a write, which would end the projection.
  if (checkpointKeys.startsWith(sessionKeys) || sessionKeys.startsWith(checkpointKeys)) {
    read.problem(`--namespace "${settings.namespace}" overlaps the session keys "${sessionKeys}…"`)
  }
  return settings
}
