import { dirname } from 'node:path'
import type { LogPlace, StorePlace } from '../src/settings/place-settings.ts'
import type { ProjectorSettings } from '../src/settings/projector-settings.ts'

type Decided = Pick<ProjectorSettings, 'log' | 'store' | 'topic' | 'namespace' | 'dataPrefix'>

/** Settings of a projector under test: patient with a slow machine, quick to notice a change. */
export function testSettings(settings: Decided & Partial<ProjectorSettings>): ProjectorSettings {
  return {
    createTables: settings.store.kind === 'pglite',
    readyTarget: 'hw',
    undecodable: 'quarantine',
    leaseMs: 500,
    batchRecordsMax: 50,
    stallMsMax: 60_000,
    ioDeadlineMs: 30_000,
    startDeadlineMs: 90_000,
    dirtyGraceMs: 0,
    host: '127.0.0.1',
    port: 0,
    logLevel: 'debug',
    ...settings,
  }
}

/** The command line of settings. */
export function argumentsOf(settings: ProjectorSettings): readonly string[] {
  const others = {
    ...logArguments(settings.log),
    ...storeArguments(settings.store),
    ...(settings.dataPrefix === '' ? {} : { 'data-prefix': settings.dataPrefix }),
    topic: settings.topic,
    namespace: settings.namespace,
    'create-tables': settings.createTables ? 'on' : 'off',
    'ready-target': settings.readyTarget,
    undecodable: settings.undecodable,
    'lease-ms': settings.leaseMs,
    'batch-records-max': settings.batchRecordsMax,
    'stall-ms-max': settings.stallMsMax,
    'io-deadline-ms': settings.ioDeadlineMs,
    'start-deadline-ms': settings.startDeadlineMs,
    'dirty-grace-ms': settings.dirtyGraceMs,
    port: settings.port,
    'log-level': settings.logLevel,
  }
  return Object.entries(others).flatMap(([name, value]) => [`--${name}`, String(value)])
}

/** The part of the command line that names the log. */
export function logArguments(log: LogPlace): Readonly<Record<string, string>> {
  if (log.kind === 'embedded') return { backend: 'embedded', 'data-dir': log.dataDir }
  return { backend: 'real', brokers: log.brokers.join(','), 'kafka-client': log.client }
}

/** The part of the command line that names the store. */
export function storeArguments(store: StorePlace): Readonly<Record<string, string>> {
  switch (store.kind) {
    case 'redis':
      return { store: 'redis', 'redis-url': store.url, form: store.form }
    case 'postgres':
      return { store: 'postgres', 'postgres-url': store.url, schema: store.schema }
    case 'pglite':
      return { store: 'pglite', 'data-dir': dirname(store.directory), schema: store.schema }
    case 'embedded':
      return { store: 'embedded', 'data-dir': store.dataDir }
  }
}
