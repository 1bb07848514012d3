import type { ProjectedDataReader, ProjectedValue } from '@tidemark/checkpoint'
import { sessionKey } from '../session-key.ts'

/** One conversation of a user, as it is served. */
export interface Session {
  readonly conversationId: string
  /** Whole epoch milliseconds of its latest dispatch. */
  readonly lastDispatchAt: number
}

/** A user's conversations, newest first; equal times in the order of their ids, so that answers repeat exactly. */
export async function readSessions(
  data: ProjectedDataReader,
  user: string,
  limit: number,
): Promise<readonly Session[]> {
  const [value] = await data.readValues([sessionKey(user)])
  return [...scoresOf(value)]
    .map(([conversationId, lastDispatchAt]) => ({ conversationId, lastDispatchAt }))
    .sort((a, b) => b.lastDispatchAt - a.lastDispatchAt || (a.conversationId < b.conversationId ? -1 : 1))
    .slice(0, limit)
}

/** The scores of a session key; a user nobody wrote to has none. */
export function scoresOf(value: ProjectedValue | undefined): ReadonlyMap<string, number> {
  if (value === undefined || value.kind === 'absent') return new Map()
  if (value.kind === 'sorted-set') return value.scores
  throw new TypeError(`a session key holds a ${value.kind}, not a sorted set`)
}
