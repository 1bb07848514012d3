/** The calls a test can watch, delay and fail. */
export type SimMethod =
  'surveyIdentity' | 'readBounds' | 'readSettings' | 'openReader' | 'poll' | 'describeTopic' | 'readBack'

/** Where tests step between a caller and the simulated cluster. */
export interface CallGate {
  /** How often a method was called. */
  count(method: SimMethod): number
  /** Runs an action just before a call does its work: the place to change the world between two steps. */
  before(method: SimMethod, number: number, action: () => void | Promise<void>): void
  /** Runs an action after a call has taken its answer from the world, before the caller gets it. */
  after(method: SimMethod, number: number, action: () => void | Promise<void>): void
  /** Makes calls of a method wait before their work until released. */
  hold(method: SimMethod): () => void
  /** Makes calls of a method wait after their work, with the answer already taken: a batch in flight. */
  holdReply(method: SimMethod): () => void
  /** Rejects the n-th call with an error instead of doing its work. */
  failOnce(method: SimMethod, number: number, error: Error): void
  /** Internal: passes a call through. */
  pass<T>(method: SimMethod, work: () => T | Promise<T>): Promise<T>
}

type Action = () => void | Promise<void>

/** A gate that lets everything through until told otherwise. */
export function createCallGate(): CallGate {
  const counts = new Map<SimMethod, number>()
  const actions = new Map<string, Action[]>()
  const holds = new Map<string, Set<Promise<void>>>()
  const failures = new Map<string, Error>()

  const hold = (key: string): (() => void) => {
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const set = holds.get(key) ?? new Set()
    holds.set(key, set)
    set.add(held)
    return () => {
      set.delete(held)
      release()
    }
  }
  const waitFor = async (key: string): Promise<void> => {
    const set = holds.get(key)
    while (set !== undefined && set.size > 0) await Promise.all(set)
  }
  const run = async (key: string): Promise<void> => {
    for (const action of actions.get(key) ?? []) await action()
  }
  const plan = (key: string, action: Action): void => {
    actions.set(key, [...(actions.get(key) ?? []), action])
  }
  return {
    count: (method) => counts.get(method) ?? 0,
    before: (method, number, action) => plan(`${method}:${number}:before`, action),
    after: (method, number, action) => plan(`${method}:${number}:after`, action),
    hold: (method) => hold(`${method}:before`),
    holdReply: (method) => hold(`${method}:after`),
    failOnce: (method, number, error) => void failures.set(`${method}:${number}`, error),
    async pass(method, work) {
      const number = (counts.get(method) ?? 0) + 1
      counts.set(method, number)
      await run(`${method}:${number}:before`)
      await waitFor(`${method}:before`)
      const failure = failures.get(`${method}:${number}`)
      if (failure !== undefined) throw failure
      const result = await work()
      await run(`${method}:${number}:after`)
      await waitFor(`${method}:after`)
      return result
    },
  }
}
