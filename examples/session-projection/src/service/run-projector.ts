import { messageOf, withDeadline, systemClock } from '@tidemark/core'
import { dirtyRunbook, renderRefusals } from '@tidemark/checkpoint'
import type { Projection, StartOutcome, StartPlan } from '@tidemark/checkpoint'
import { observeProjection } from '@tidemark/telemetry'
import { metrics } from '@opentelemetry/api'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import type { SessionBackend } from '../backend/session-backend.ts'
import { createSessionProjection } from '../session-projection.ts'
import type { ProjectorSettings } from '../settings/projector-settings.ts'
import { exitCodes } from './exit-codes.ts'
import type { ExitCode } from './exit-codes.ts'
import { catchUpProgress, progressLine } from './progress-lines.ts'
import { createSessionMetrics } from './session-metrics.ts'
import { createSessionServer } from './session-server.ts'
import { readStoreProfile, storeLine } from './store-profile.ts'
import type { StoreProfile } from './store-profile.ts'

/** What a projector runs with. */
export interface ProjectorParts {
  readonly settings: ProjectorSettings
  readonly backend: SessionBackend
  readonly logger: Logger
  /** Aborted by SIGTERM or SIGINT. */
  readonly stop: AbortSignal
  /** Tells a person, in plain text, why the service ends. */
  readonly announce: (text: string) => void
}

/** Runs the service until it is told to stop, is refused or goes dirty. Answers with the exit code. */
export async function runProjector(parts: ProjectorParts): Promise<ExitCode> {
  const { backend, logger } = parts
  const projection = newProjection(parts)
  let profile: StoreProfile | undefined
  const store = (): StoreProfile | undefined => profile
  const server = createSessionServer({
    status: () => projection.status(),
    store,
    data: backend.data,
    metrics: createSessionMetrics(() => projection.status(), store),
    onReadFailure: (error) => logger.error({ error: messageOf(error) }, 'a session could not be read'),
  })
  try {
    // Listening comes first: a probe must be able to see "starting", and a taken port must not cost a claimed fence.
    if (!(await listen(server, parts))) return exitCodes.unavailable
    const outcome = await start(projection, parts)
    if (outcome === undefined) return parts.stop.aborted ? exitCodes.ok : exitCodes.unavailable
    if (outcome.kind === 'refused') {
      logger.error({ refusals: outcome.refusals }, 'start refused')
      parts.announce(renderRefusals(outcome.refusals))
      return exitCodes.refused
    }
    const asking = profileStore(parts).then((told) => (profile = told))
    const code = await serve(parts, projection, outcome.plan)
    await asking
    return code
  } finally {
    await projection.stop()
    await server.close()
    await backend.close()
    logger.info('stopped')
  }
}

function newProjection({ settings, backend, logger, stop }: ProjectorParts): Projection {
  const { topic, readyTarget, undecodable, leaseMs, batchRecordsMax, stallMsMax, ioDeadlineMs } = settings
  const projection = createSessionProjection({
    topic,
    log: backend.log,
    store: backend.store,
    readyTarget,
    undecodable,
    leaseMs,
    limits: { batchRecordsMax, stallMsMax, inspectMsMax: ioDeadlineMs },
    observer: {
      onState: (state, reason) => {
        // What is left is told before what follows from nothing being left.
        if (state === 'ready') tellProgress(projection, logger)
        if (reason === undefined) logger.info({ state }, `state: ${state}`)
        else logger.error({ state, reason }, `state: ${state}, ${reason.code}: ${reason.message}`)
      },
      onStep: (step) => logger.debug({ ...step, nextOffset: String(step.nextOffset) }, 'step'),
      onQuarantine: ({ partition, offset, reason }) =>
        logger.warn({ partition, offset: String(offset), reason }, 'record set aside'),
      onConflict: (partition, kind) => logger.warn({ partition, kind }, 'a step lost a race'),
    },
  })
  // For a host that registered an OpenTelemetry provider before the service starts; without one this does nothing.
  observeProjection(projection, { meter: metrics.getMeter('session-projection') })
  stop.addEventListener('abort', () => void projection.stop(), { once: true })
  return projection
}

async function listen(server: FastifyInstance, { settings, logger, announce }: ProjectorParts): Promise<boolean> {
  try {
    const url = await server.listen({ host: settings.host, port: settings.port })
    logger.info({ url }, `listening on ${url}`)
    return true
  } catch (error) {
    logger.fatal({ error: messageOf(error) }, `cannot listen on ${settings.host}:${settings.port}`)
    announce(`cannot listen on ${settings.host}:${settings.port}: ${messageOf(error)}`)
    return false
  }
}

/** Starts within the deadline; a failure is logged, and is no outcome. */
async function start(
  projection: Projection,
  { settings, logger, stop, announce }: ProjectorParts,
): Promise<StartOutcome | undefined> {
  try {
    return await withDeadline(systemClock, 'the start', settings.startDeadlineMs, projection.start())
  } catch (error) {
    // A start that was told to stop fails too, and that is no news.
    if (stop.aborted) return undefined
    logger.fatal({ error: error instanceof Error && 'toJSON' in error ? error : messageOf(error) }, messageOf(error))
    announce(`start failed: ${messageOf(error)}`)
    return undefined
  }
}

async function serve(parts: ProjectorParts, projection: Projection, plan: StartPlan): Promise<ExitCode> {
  const { settings, logger, stop } = parts
  for (const note of plan.notes) logger.warn({ note }, note.message)
  const over = new AbortController()
  const progress = reportProgress(projection, logger, over.signal)
  const ended = await projection.ended()
  over.abort()
  await progress
  if (ended.kind === 'stopped') return exitCodes.ok
  const { code, message, remedy } = ended.reason
  parts.announce(`dirty, ${code}: ${message}\n  remedy: ${remedy}\n  see: ${dirtyRunbook(code)}`)
  // Probes and clients get to see the reason before the process goes away; SIGTERM ends the wait.
  logger.error({ graceMs: settings.dirtyGraceMs }, 'serving 503 until the grace is over')
  await systemClock.sleep(settings.dirtyGraceMs, stop)
  return exitCodes.dirty
}

/** Nothing waits for the answer: a store that gives none is found out by the projection, which says so. */
async function profileStore({ settings, backend, logger }: ProjectorParts): Promise<StoreProfile | undefined> {
  try {
    const profile = await readStoreProfile(backend.store, settings.topic)
    logger.info({ store: profile }, storeLine(profile))
    return profile
  } catch (error) {
    logger.warn({ error: messageOf(error) }, 'the store did not say what its steps survive')
    return undefined
  }
}

function tellProgress(projection: Projection, logger: Logger): void {
  const progress = catchUpProgress(projection.status())
  const { done, total } = progress
  logger.info({ done: String(done), total: String(total) }, progressLine(progress))
}

async function reportProgress(projection: Projection, logger: Logger, over: AbortSignal): Promise<void> {
  for (;;) {
    const waited = await projection.caughtUp({ deadlineMs: 500 })
    if (over.aborted || waited.kind === 'dirty' || waited.kind === 'stopped') return
    if (waited.kind === 'timed-out') tellProgress(projection, logger)
    else {
      logger.info(`ready: every partition reached its target`)
      return
    }
  }
}
