import { pino } from 'pino'
import type { Logger } from 'pino'
import type { ProjectorSettings } from '../settings/projector-settings.ts'

/**
 * The service's logger: one JSON object a line on standard output.
 *
 * Settings reach the log through {@link describeSettings} only, so no line can hold a password.
 */
export function createServiceLogger(settings: Pick<ProjectorSettings, 'logLevel'>): Logger {
  return pino({ level: settings.logLevel, base: { service: 'session-projector', pid: process.pid } })
}

/** The settings without anything secret. */
export function describeSettings(settings: ProjectorSettings): Record<string, unknown> {
  const { log, store, ...rest } = settings
  return { ...rest, log: describeLog(log), store: describeStore(store) }
}

function describeLog(log: ProjectorSettings['log']): Record<string, unknown> {
  if (log.kind === 'embedded') return { ...log }
  const { tls, sasl } = log.security
  return {
    kind: log.kind,
    brokers: log.brokers,
    client: log.client,
    tls: tls !== undefined,
    sasl: sasl?.mechanism ?? 'none',
  }
}

function describeStore(store: ProjectorSettings['store']): Record<string, unknown> {
  if (store.kind === 'embedded' || store.kind === 'pglite') return { ...store }
  // A URL may hold a password, also one that does not parse: only a parsed host and port are shown.
  const { url, ...rest } = store
  return { ...rest, address: URL.canParse(url) ? new URL(url).host : 'unparsed' }
}
