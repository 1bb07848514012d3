// The service: projects dispatch records into sessions and serves them while it is proven that they are complete.
import { messageOf } from '@tidemark/core'
import { openSessionBackend } from './backend/open-session-backend.ts'
import type { SessionBackend } from './backend/session-backend.ts'
import { exitCodes, isWrongSetting } from './service/exit-codes.ts'
import type { ExitCode } from './service/exit-codes.ts'
import { runProjector } from './service/run-projector.ts'
import { createServiceLogger, describeSettings } from './service/service-logger.ts'
import { settingsOrExit } from './settings/settings-or-exit.ts'
import { readProjectorSettings } from './settings/projector-settings.ts'
import type { ProjectorSettings } from './settings/projector-settings.ts'

const settings = settingsOrExit(readProjectorSettings(process.argv.slice(2), process.env))
process.exit(await main(settings))

async function main(settings: ProjectorSettings): Promise<ExitCode> {
  const logger = createServiceLogger(settings)
  const announce = (text: string): void => void process.stderr.write(`${text}\n`)
  const stop = new AbortController()
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.once(signal, () => {
      logger.info({ signal }, 'draining')
      stop.abort()
    })
  }
  // Said before anything is opened: a PGlite takes seconds, or longer where it is created.
  logger.info({ settings: describeSettings(settings) }, 'starting')
  let backend: SessionBackend
  try {
    backend = await openSessionBackend(settings)
  } catch (error) {
    announce(`cannot be opened: ${messageOf(error)}`)
    return isWrongSetting(error) ? exitCodes.wrongSettings : exitCodes.unavailable
  }
  logger.info(`on ${backend.name}`)
  try {
    return await runProjector({ settings, backend, logger, stop: stop.signal, announce })
  } catch (error) {
    logger.fatal({ error: messageOf(error) }, 'the projector failed')
    announce(`failed: ${messageOf(error)}`)
    return exitCodes.failed
  }
}
