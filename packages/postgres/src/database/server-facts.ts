import type { Durability, EvictionFact } from '@tidemark/checkpoint'

/** Which run of a server this is: the start of the postmaster and the timeline. Cheap enough to be asked in every step. */
export const runSql: string =
  `(extract(epoch FROM pg_postmaster_start_time())::text || ':' || ` +
  `CASE WHEN pg_is_in_recovery() THEN 'recovery' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END)`

/**
 * Which life of which server this is: system identifier, start of the postmaster, timeline.
 *
 * A restart changes the second, a promoted standby all but the first, a restored copy the last. The identifier is read from a
 * file of the server each time, so that steps ask only for the rest.
 */
export const processSql: string = `((SELECT s.system_identifier::text FROM pg_control_system() s) || ':' || ${runSql})`

/** The name of a server process as stores hand it out. */
export function processName(process: string, instance: string | undefined): string {
  return instance === undefined ? process : `${process}:${instance}`
}

/** The run in a process name, or `undefined` when the name is not one of this instance. */
export function runOfProcess(name: string, instance: string | undefined): string | undefined {
  const suffix = instance === undefined ? '' : `:${instance}`
  const start = name.indexOf(':') + 1
  return start > 0 && name.endsWith(suffix) ? name.slice(start, name.length - suffix.length) : undefined
}

/** What a server says of itself, as one row of texts. */
export const factsSql: string =
  `${processSql} AS process, current_database()::text AS database, pg_is_in_recovery()::text AS in_recovery, ` +
  `current_setting('transaction_read_only') AS read_only, current_setting('fsync') AS fsync, ` +
  `current_setting('synchronous_commit') AS synchronous_commit, ` +
  `current_setting('synchronous_standby_names') AS standby_names`

/** The settings that decide what a confirmed step survives. */
export interface DurabilitySettings {
  readonly fsync: string
  readonly synchronousCommit: string
  readonly standbyNames: string
}

/**
 * What a confirmed step survives.
 *
 * Shape: `remote_write` waits for a standby's memory only, `local` for no standby at all. Promises: PGS-16.
 */
export function durabilityOf(settings: DurabilitySettings): Durability {
  if (settings.fsync !== 'on' || settings.synchronousCommit === 'off') return 'server'
  const waitsForStandby = settings.synchronousCommit === 'on' || settings.synchronousCommit === 'remote_apply'
  return waitsForStandby && settings.standbyNames.trim() !== '' ? 'replicated' : 'fsync'
}

/** Whether the server may drop rows of ours by itself: an unlogged table is emptied after a crash. */
export function evictionOf(unloggedTables: readonly string[]): EvictionFact {
  if (unloggedTables.length === 0) return { policy: 'none', kind: 'keeps-all' }
  return { policy: `not logged: ${unloggedTables.join(', ')}`.slice(0, 200), kind: 'any-key' }
}
