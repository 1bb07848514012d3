import { exitCodes } from '../service/exit-codes.ts'
import type { SettingsReading } from './setting-reader.ts'

/** The settings, or the end of the process: with the usage text when asked for it, with every problem otherwise. */
export function settingsOrExit<T>(reading: SettingsReading<T>): T {
  switch (reading.kind) {
    case 'settings':
      return reading.settings
    case 'help':
      process.stdout.write(`${reading.text}\n`)
      return process.exit(exitCodes.ok)
    case 'wrong':
      process.stderr.write(reading.problems.map((problem) => `wrong settings: ${problem}\n`).join(''))
      return process.exit(exitCodes.wrongSettings)
  }
}
