import { EventEmitter, once } from 'node:events'
import type { ProjectionStatus } from '@tidemark/checkpoint'
import { pino } from 'pino'
import { openSessionBackend } from '../src/backend/open-session-backend.ts'
import type { ExitCode } from '../src/service/exit-codes.ts'
import { runProjector } from '../src/service/run-projector.ts'
import type { ProjectorSettings } from '../src/settings/projector-settings.ts'

/** A projector running inside the test: the whole service but for the process around it. */
export interface RunningProjector {
  readonly url: string
  readonly exit: Promise<ExitCode>
  get(path: string): Promise<{ readonly status: number; readonly body: unknown }>
  /** Waits until `/health/ready` answers something that fits. */
  until(fits: (status: ProjectionStatus) => boolean): Promise<ProjectionStatus>
  /** What a person was told. */
  announced(): string
  /** What SIGTERM does. */
  stop(): Promise<ExitCode>
}

/** Starts the service with real adapters. */
export async function runInside(settings: ProjectorSettings): Promise<RunningProjector> {
  const stop = new AbortController()
  const announced: string[] = []
  const events = new EventEmitter()
  const listening = once(events, 'url')
  const logger = pino(
    { level: 'debug' },
    {
      write(text: string) {
        const { url } = JSON.parse(text) as { url?: string }
        if (url !== undefined) events.emit('url', url)
      },
    },
  )
  const backend = await openSessionBackend(settings)
  const exit = runProjector({ settings, backend, logger, stop: stop.signal, announce: (text) => announced.push(text) })
  const [url] = (await listening) as [string]
  const get: RunningProjector['get'] = async (path) => {
    const answer = await fetch(`${url}${path}`)
    return { status: answer.status, body: await answer.json() }
  }
  return {
    url,
    exit,
    get,
    announced: () => announced.join('\n'),
    async until(fits) {
      const giveUpAt = performance.now() + 60_000
      for (;;) {
        const status = (await get('/health/ready')).body as ProjectionStatus
        if (fits(status)) return status
        if (performance.now() > giveUpAt) throw new Error(`still ${JSON.stringify(status)}`)
        await new Promise((resolve) => setTimeout(resolve, 25))
      }
    },
    async stop() {
      stop.abort()
      return exit
    },
  }
}
