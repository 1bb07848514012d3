import { checkLimit } from '@tidemark/core'
import { checkpointErrors } from '@tidemark/checkpoint'
import type { StoredState } from '@tidemark/checkpoint'
import { countReply } from '../connection/reply-shape.ts'
import type { RedisLink } from '../connection/redis-link.ts'
import type { SafeRedisSource } from '../connection/safe-redis.ts'

/** How many replicas to ask for, and whom to tell what came of it. */
export interface RedisWait {
  /** So many replicas must have a step for it to count as replicated. */
  readonly count: number
  /**
   * How long one question waits for them; less than half the command deadline, since a step may stand behind one question
   * and then wait for its own.
   */
  readonly timeoutMs: number
  /** Called after every confirmed step. Must be quick; what it throws is ignored. */
  readonly onReplication?: (report: ReplicationReport) => void
}

/** What the server said about one step. */
export interface ReplicationReport {
  readonly partition: number
  readonly wanted: number
  readonly acknowledged: number
  /** True only when at least as many acknowledged as were wanted. A step that is not replicated is confirmed all the same. */
  readonly isReplicated: boolean
}

/** The replicas behind the links of one store. */
export interface ReplicaWaits {
  /** Does work on a link while nothing is asked over it, and keeps questions back until it is done. */
  during<T>(link: RedisLink, work: () => Promise<T>): Promise<T>
  /** Asks after a confirmed step and tells what was said. Never rejects; is done by the deadline of the call. Promises: RED-27. */
  report(call: ReplicaCall, partition: number): Promise<void>
  /** The state with `replicated` durability only where the replicas said so just now. Never rejects. Promises: RED-27. */
  stateOf(call: ReplicaCall, stored: StoredState): Promise<StoredState>
}

/** A call that is done but for its question. */
export interface ReplicaCall {
  readonly link: RedisLink
  /** When the caller began it; the question has what is left of its deadline. */
  readonly startedAtMs: number
}

/** @throws {TidemarkError} TM_CHECKPOINT_OPTION_INVALID */
export function createReplicaWaits(
  wait: RedisWait,
  { commandDeadlineMs }: Pick<SafeRedisSource, 'commandDeadlineMs'>,
): ReplicaWaits {
  checkLimit('waitReplicas.count', wait.count, { min: 1, max: 1_000 })
  checkLimit('waitReplicas.timeoutMs', wait.timeoutMs, { min: 1, max: 600_000 })
  if (2 * wait.timeoutMs < commandDeadlineMs) return new Waits(wait, commandDeadlineMs)
  const reason = `${wait.timeoutMs} ms is not less than half of commandDeadlineMs (${commandDeadlineMs})`
  throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option: 'waitReplicas.timeoutMs', reason })
}

/** One WAIT, asked once or not yet. */
interface Question {
  readonly begin: () => void
  readonly answer: Promise<number>
}

interface Turns {
  calls: number
  question: Question | undefined
}

/**
 * WAIT holds up everything that is sent behind it on its connection, and speaks for everything that was written before it.
 *
 * So calls and questions take turns: a question begins when no call is under way, for all that were confirmed until then,
 * and calls that come meanwhile stand behind that one question. Without turns each step in flight would add its own wait to
 * those of the others, and confirmed steps would run into the deadline.
 */
class Waits implements ReplicaWaits {
  readonly #wait: RedisWait
  readonly #deadlineMs: number
  readonly #links = new WeakMap<RedisLink, Turns>()

  constructor(wait: RedisWait, deadlineMs: number) {
    this.#wait = wait
    this.#deadlineMs = deadlineMs
  }

  async during<T>(link: RedisLink, work: () => Promise<T>): Promise<T> {
    const turns = this.#turnsOf(link)
    for (let asked = turns.question; asked !== undefined; asked = turns.question) await asked.answer
    turns.calls += 1
    try {
      return await work()
    } finally {
      turns.calls -= 1
      if (turns.calls === 0) turns.question?.begin()
    }
  }

  async report(call: ReplicaCall, partition: number): Promise<void> {
    const { count, onReplication } = this.#wait
    const acknowledged = await this.#ask(call)
    try {
      onReplication?.({ partition, wanted: count, acknowledged, isReplicated: acknowledged >= count })
    } catch {
      // An observer must not decide what becomes of a step that the server has confirmed.
    }
  }

  async stateOf(call: ReplicaCall, stored: StoredState): Promise<StoredState> {
    if ((await this.#ask(call)) < this.#wait.count) return stored
    return { ...stored, facts: { ...stored.facts, durability: 'replicated' } }
  }

  /** How many replicas are known to have what the call wrote; none where nobody says so in time. */
  #ask({ link, startedAtMs }: ReplicaCall): Promise<number> {
    const leftMs = Math.max(0, this.#deadlineMs - (performance.now() - startedAtMs))
    const turns = this.#turnsOf(link)
    turns.question ??= this.#newQuestion(link, turns)
    const { begin, answer } = turns.question
    if (turns.calls === 0) begin()
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(0), leftMs)
      void answer.then((count) => {
        clearTimeout(timer)
        resolve(count)
      })
    })
  }

  #newQuestion(link: RedisLink, turns: Turns): Question {
    let begin!: () => void
    const begun = new Promise<void>((resolve) => (begin = resolve))
    const answer = begun
      .then(() => acknowledged(link, this.#wait))
      // Too few and no answer are the same to a step that is confirmed; a broken link shows in the next call.
      .catch(() => 0)
      .finally(() => (turns.question = undefined))
    return { begin, answer }
  }

  #turnsOf(link: RedisLink): Turns {
    const known = this.#links.get(link)
    if (known !== undefined) return known
    const turns: Turns = { calls: 0, question: undefined }
    this.#links.set(link, turns)
    return turns
  }
}

/** How many replicas have everything this link wrote. The command never fails for want of replicas: the count is all it says. */
async function acknowledged(link: RedisLink, { count, timeoutMs }: RedisWait): Promise<number> {
  const reply = await link.send('wait', { name: 'WAIT', args: [String(count), String(timeoutMs)] })
  return countReply('wait', reply, 100_000)
}
