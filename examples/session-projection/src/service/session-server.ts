import type { ProjectedDataReader, ProjectionStatus } from '@tidemark/checkpoint'
import { fastify } from 'fastify'
import type { FastifyInstance, FastifyReply } from 'fastify'
import type { Registry } from 'prom-client'
import { readSessions } from './session-reader.ts'
import type { StoreProfile } from './store-profile.ts'

/** What the HTTP side needs from the service. */
export interface SessionServerOptions {
  /** Asked before and after every read: what is served must have been true all the while. */
  readonly status: () => ProjectionStatus
  /** Told beside the status once the store has said it. */
  readonly store: () => StoreProfile | undefined
  readonly data: ProjectedDataReader
  readonly metrics: Registry
  /** Told of a read that failed; the client only learns that it may ask again. */
  readonly onReadFailure: (error: unknown) => void
}

/** Most conversations in one answer, and how many without a `limit`. */
export const SESSIONS_LIMIT_MAX = 1_000
export const SESSIONS_LIMIT_DEFAULT = 50

/** The routes of the service; not listening yet. */
export function createSessionServer(options: SessionServerOptions): FastifyInstance {
  const server = fastify({ logger: false, forceCloseConnections: true })
  server.get('/sessions/:user', async (request, reply) => {
    const { user } = request.params as { user: string }
    const limit = parseLimit((request.query as { limit?: unknown }).limit)
    if (user === '') return reply.code(400).send({ error: 'the user is empty' })
    if (limit === undefined) {
      return reply.code(400).send({ error: `limit is not a whole number from 1 to ${SESSIONS_LIMIT_MAX}` })
    }
    return answerSessions(options, user, limit, reply)
  })
  server.get('/health/live', () => ({ live: true }))
  server.get('/health/ready', (_request, reply) => {
    const status = options.status()
    const store = options.store()
    return reply.code(status.ready ? 200 : 503).send(store === undefined ? status : { ...status, store })
  })
  server.get('/metrics', async (_request, reply) => {
    return reply.type(options.metrics.contentType).send(await options.metrics.metrics())
  })
  return server
}

async function answerSessions(
  options: SessionServerOptions,
  user: string,
  limit: number,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const before = options.status()
  if (!before.ready) return notReady(reply, before)
  try {
    const sessions = await readSessions(options.data, user, limit)
    const after = options.status()
    return after.ready ? reply.send({ user, sessions }) : notReady(reply, after)
  } catch (error) {
    options.onReadFailure(error)
    return reply.code(503).send({ error: 'the session store did not answer', state: before.state })
  }
}

function notReady(reply: FastifyReply, status: ProjectionStatus): FastifyReply {
  return reply.code(503).header('retry-after', '1').send({ error: status.notReadyBecause, state: status.state })
}

function parseLimit(text: unknown): number | undefined {
  if (text === undefined) return SESSIONS_LIMIT_DEFAULT
  const limit = typeof text === 'string' && /^[1-9][0-9]{0,3}$/.test(text) ? Number(text) : Number.NaN
  return limit <= SESSIONS_LIMIT_MAX ? limit : undefined
}
