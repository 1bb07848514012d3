import type { Durability, EvictionFact } from '@tidemark/checkpoint'

/**
 * Which life of which server this is: system identifier, start of the postmaster, timeline.
 *
 * A restart changes the second, a promoted standby all but the first, a restored copy the last.
 */
export const processSql: string =
  `((SELECT s.system_identifier::text FROM pg_control_system() s) || ':' || ` +
  `extract(epoch FROM pg_postmaster_start_time())::text || ':' || ` +
  `CASE WHEN pg_is_in_recovery() THEN 'recovery' ELSE substr(pg_walfile_name(pg_current_wal_lsn()), 1, 8) END)`

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
