import type { DispatchMessage } from '../backend/dispatch-writer.ts'
import { encodeDispatch } from '../dispatch-record.ts'

/** Makes dispatches whose times rise strictly, so that a stored time names the dispatch it came from. */
export interface DispatchSource {
  next(count: number): readonly DispatchMessage[]
  /** Dispatches for a transaction that is going to be aborted; their users are named in no other. */
  nextAborted(count: number): readonly DispatchMessage[]
  /** Users named so far, other than those. */
  readonly users: ReadonlySet<string>
  /** Users who were only ever named in aborted transactions. */
  readonly abortedUsers: ReadonlySet<string>
}

/** What a source draws from. */
export interface DispatchSourceOptions {
  readonly users: number
  readonly startMs: number
  /** From 0 (included) to 1 (excluded). */
  readonly random: () => number
}

/** A source of dispatches between a number of users. */
export function createDispatchSource(options: DispatchSourceOptions): DispatchSource {
  const { random } = options
  const users = new Set<string>()
  const abortedUsers = new Set<string>()
  let createdAt = options.startMs
  let count = 0
  const draw = (below: number): number => Math.floor(random() * below)
  const dispatch = (kind: 'user' | 'ghost'): DispatchMessage => {
    count += 1
    createdAt += 1
    const chat = draw(options.users * 3)
    // Every conversation has two to five fixed members; in a small town the same user may be named twice.
    const recipients = Array.from(
      { length: 2 + (chat % 4) },
      (_, index) => `${kind}-${(chat * 31 + index * 17) % options.users}`,
    )
    for (const user of recipients) (kind === 'user' ? users : abortedUsers).add(user)
    const conversationId = `${kind}-chat-${chat}`
    const value = encodeDispatch({ dispatchId: `dispatch-${count}`, conversationId, createdAt, recipients })
    return { key: conversationId, value }
  }
  return {
    users,
    abortedUsers,
    next: (length) => Array.from({ length }, () => dispatch('user')),
    nextAborted: (length) => Array.from({ length }, () => dispatch('ghost')),
  }
}
