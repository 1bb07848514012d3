import { isTidemarkError } from '@tidemark/core'
import type { TidemarkError } from '@tidemark/core'
import type { RedisLink } from './redis-link.ts'
import type { RedisSession } from './redis-session.ts'

/** What a cluster says while it is being repaired or moved, or where a node is just starting. Nothing was run then. */
const passingCodes: ReadonlySet<string> = new Set([
  'TM_REDIS_CLUSTER_DOWN',
  'TM_REDIS_CLUSTER_REDIRECT',
  'TM_REDIS_CLUSTER_DISAGREES',
  'TM_REDIS_LOADING',
  'TM_REDIS_MASTER_DOWN',
  'TM_REDIS_CONNECT_FAILED',
])

const pauseMs = 50

/**
 * A session that does some operations again while the cluster says that its trouble is passing, within one deadline.
 *
 * Only what may be repeated is in `operations`; a step never is. A link on which such an answer came is given up, so that
 * the next one asks for the topology again. Promises: RED-24.
 */
export function retryingSession(
  session: RedisSession,
  commandDeadlineMs: number,
  operations: ReadonlySet<string>,
): RedisSession {
  return {
    async run(operation, work, deadlineMs = commandDeadlineMs) {
      const endsAtMs = performance.now() + deadlineMs
      let lastTrouble: TidemarkError | undefined
      for (;;) {
        let used: RedisLink | undefined
        try {
          const leftMs = Math.max(1, Math.round(endsAtMs - performance.now()))
          return await session.run(
            operation,
            (link) => {
              used = link
              return work(link)
            },
            leftMs,
          )
        } catch (error) {
          // That the time ran out says less than what it ran out over.
          if (isTidemarkError(error, 'TM_REDIS_TIMEOUT') && lastTrouble !== undefined) throw lastTrouble
          if (!isTidemarkError(error) || !passingCodes.has(error.code)) throw error
          lastTrouble = error
          used?.destroy()
          if (!operations.has(operation) || performance.now() + pauseMs >= endsAtMs) throw error
          await new Promise((resolve) => setTimeout(resolve, pauseMs))
        }
      }
    },
    close: () => session.close(),
  }
}
