import { hashKey } from '@tidemark/core'

/** What a window is to the business: no job, no policy, no generation is part of it. */
export interface LogicalWindow {
  readonly businessStream: string
  readonly key: string
  /** [startMs, endMs), whole epoch milliseconds. */
  readonly startMs: number
  readonly endMs: number
}

/**
 * The identity of a window over all jobs and generations: what an effect that must happen once hangs on.
 *
 * Shape: 64 hexadecimal digits. Instants go in as decimal integers, never as local times. Cost: one hash; taken once a window,
 * never for an event. Promises: WIN-60.
 */
export function logicalWindowId({ businessStream, key, startMs, endMs }: LogicalWindow): string {
  return hashKey('logical-window', 1, [businessStream, key, String(startMs), String(endMs)])
}

/** The identity of what one generation of the policy says of a window: what revisions are numbered under. Promises: WIN-60. */
export function projectionId(logicalWindow: string, policyGeneration: number): string {
  return hashKey('projection', 1, [logicalWindow, String(policyGeneration)])
}
