import { logSettingSpecs, readLogPlace } from './place-settings.ts'
import type { LogPlace } from './place-settings.ts'
import { readSettings } from './setting-reader.ts'
import type { SettingReader, SettingSpec, SettingsReading } from './setting-reader.ts'

/** What the producer writes, and where. */
export interface ProducerSettings {
  readonly log: LogPlace
  readonly topic: string
  /** Dispatches to commit. */
  readonly dispatches: number
  readonly perTransaction: number
  /** Every n-th transaction is followed by one that is aborted; 0 for none. */
  readonly abortEvery: number
  /** Committed dispatches a second; 0 for as fast as it goes. */
  readonly perSecond: number
  readonly users: number
  readonly deadlineMs: number
}

const specs = {
  ...logSettingSpecs,
  dispatches: { flag: 'dispatches', env: 'SESSION_DISPATCHES', help: 'how many to commit; default 1000' },
  perTransaction: { flag: 'per-transaction', env: 'SESSION_PER_TRANSACTION', help: 'default 50' },
  abortEvery: { flag: 'abort-every', env: 'SESSION_ABORT_EVERY', help: 'an aborted one after every n-th; default 5' },
  perSecond: { flag: 'per-second', env: 'SESSION_PER_SECOND', help: 'rate; default 0, unbounded' },
  users: { flag: 'users', env: 'SESSION_USERS', help: 'how many users take part; default 200' },
  deadlineMs: { flag: 'io-deadline-ms', env: 'SESSION_IO_DEADLINE_MS', help: 'longest wait for Kafka; default 10000' },
} as const satisfies Record<string, SettingSpec>

/** Reads the producer's settings, or says everything that is wrong with them. */
export function readProducerSettings(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): SettingsReading<ProducerSettings> {
  return readSettings('producer', specs, argv, env, build)
}

function build(read: SettingReader): ProducerSettings {
  return {
    log: readLogPlace(read),
    topic: read.text('topic'),
    dispatches: read.whole('dispatches', { min: 1, max: 10_000_000 }, 1_000),
    perTransaction: read.whole('perTransaction', { min: 1, max: 1_000 }, 50),
    abortEvery: read.whole('abortEvery', { min: 0, max: 1_000 }, 5),
    perSecond: read.whole('perSecond', { min: 0, max: 100_000 }, 0),
    users: read.whole('users', { min: 1, max: 1_000_000 }, 200),
    deadlineMs: read.whole('deadlineMs', { min: 100, max: 600_000 }, 10_000),
  }
}
