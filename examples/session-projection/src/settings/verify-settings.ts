import { logSettingSpecs, readLogPlace, readStorePlace, storeSettingSpecs } from './place-settings.ts'
import type { LogPlace, StorePlace } from './place-settings.ts'
import { readSettings } from './setting-reader.ts'
import type { SettingReader, SettingSpec, SettingsReading } from './setting-reader.ts'

/** Which log and which sessions to compare. */
export interface VerifySettings {
  readonly log: LogPlace
  readonly store: StorePlace
  readonly topic: string
  readonly namespace: string
  readonly dataPrefix: string
  readonly deadlineMs: number
}

const specs = {
  ...logSettingSpecs,
  ...storeSettingSpecs,
  deadlineMs: { flag: 'deadline-ms', env: 'SESSION_VERIFY_DEADLINE_MS', help: 'longest reading; default 60000' },
} as const satisfies Record<string, SettingSpec>

/** Reads the settings of the comparison, or says everything that is wrong with them. */
export function readVerifySettings(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): SettingsReading<VerifySettings> {
  return readSettings('recompute', specs, argv, env, build)
}

function build(read: SettingReader): VerifySettings {
  return {
    log: readLogPlace(read),
    store: readStorePlace(read),
    topic: read.text('topic'),
    namespace: read.text('namespace'),
    dataPrefix: read.text('dataPrefix', ''),
    deadlineMs: read.whole('deadlineMs', { min: 1_000, max: 3_600_000 }, 60_000),
  }
}
