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
  /** How long one step waits for them; less than the command deadline. */
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

/** The options, checked. A wait as long as the deadline would turn every missing replica into a time-out. */
export function checkedWait(
  wait: RedisWait,
  { commandDeadlineMs }: Pick<SafeRedisSource, 'commandDeadlineMs'>,
): RedisWait {
  checkLimit('waitReplicas.count', wait.count, { min: 1, max: 1_000 })
  checkLimit('waitReplicas.timeoutMs', wait.timeoutMs, { min: 1, max: 600_000 })
  if (wait.timeoutMs < commandDeadlineMs) return wait
  const reason = `${wait.timeoutMs} ms is not less than commandDeadlineMs (${commandDeadlineMs})`
  throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option: 'waitReplicas.timeoutMs', reason })
}

/** How many replicas have everything this link wrote. The command never fails for want of replicas: the count is all it says. */
async function acknowledged(link: RedisLink, { count, timeoutMs }: RedisWait): Promise<number> {
  const reply = await link.send('wait', { name: 'WAIT', args: [String(count), String(timeoutMs)] })
  return countReply('wait', reply, 100_000)
}

/** Asks after a step and tells what was said. Promises: RED-27. */
export async function reportReplication(link: RedisLink, wait: RedisWait, partition: number): Promise<void> {
  const found = await acknowledged(link, wait)
  const report = { partition, wanted: wait.count, acknowledged: found, isReplicated: found >= wait.count }
  try {
    wait.onReplication?.(report)
  } catch {
    // An observer must not decide what becomes of a step that the server has confirmed.
  }
}

/** The state with `replicated` durability only where the replicas said so just now. Promises: RED-27. */
export async function withReplication(link: RedisLink, wait: RedisWait, stored: StoredState): Promise<StoredState> {
  if ((await acknowledged(link, wait)) < wait.count) return stored
  return { ...stored, facts: { ...stored.facts, durability: 'replicated' } }
}
