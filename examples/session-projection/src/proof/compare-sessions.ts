import type { ProjectedDataReader } from '@tidemark/checkpoint'
import { scoresOf } from '../service/session-reader.ts'
import { sessionKey } from '../session-key.ts'

/** One conversation of one user that is not what the log says. */
export interface SessionDifference {
  readonly user: string
  readonly conversationId: string
  /** What the log says; absent when the log knows no such session. */
  readonly expected: number | undefined
  /** What is stored; absent when nothing is. */
  readonly found: number | undefined
}

/** Stored sessions beside those of the log. */
export interface SessionComparison {
  readonly users: number
  readonly sessions: number
  /** Missing, or older than the log says. */
  readonly lost: readonly SessionDifference[]
  /** Stored although the log has no such dispatch: from an aborted transaction, another log, a doubled effect. */
  readonly unexplained: readonly SessionDifference[]
}

const keysPerRead = 500

/** Compares stored sessions with recomputed ones, for the users of the log and for others who should have none. */
export async function compareSessions(
  expected: ReadonlyMap<string, ReadonlyMap<string, number>>,
  data: ProjectedDataReader,
  alsoUsers: Iterable<string> = [],
): Promise<SessionComparison> {
  const users = [...new Set([...expected.keys(), ...alsoUsers])]
  const lost: SessionDifference[] = []
  const unexplained: SessionDifference[] = []
  let sessions = 0
  for (let first = 0; first < users.length; first += keysPerRead) {
    const some = users.slice(first, first + keysPerRead)
    const values = await data.readValues(some.map(sessionKey))
    for (const [index, user] of some.entries()) {
      const [due, found] = [expected.get(user) ?? new Map<string, number>(), scoresOf(values[index])]
      sessions += found.size
      for (const conversationId of new Set([...due.keys(), ...found.keys()])) {
        const difference = {
          user,
          conversationId,
          expected: due.get(conversationId),
          found: found.get(conversationId),
        }
        if (difference.expected === difference.found) continue
        if (difference.expected === undefined || (difference.found ?? -1) > difference.expected) {
          unexplained.push(difference)
        } else {
          lost.push(difference)
        }
      }
    }
  }
  return { users: users.length, sessions, lost, unexplained }
}
