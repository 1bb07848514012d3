import { checkpointErrors } from '../errors.ts'

const brand = Symbol.for('tidemark.undecodable')

/** A projection function's word that a record cannot be projected. */
export interface Undecodable {
  readonly kind: 'undecodable'
  readonly reason: string
}

/** Says that a record cannot be projected and why; everything written for it is dropped. */
export function undecodable(reason: string): Undecodable {
  return Object.freeze({ kind: 'undecodable', reason, [brand]: true })
}

/**
 * Refuses what an asynchronous projection function returns.
 *
 * Its writes would come after the step was built, so the record would count as applied without them.
 * @throws {TidemarkError} TM_CHECKPOINT_OPTION_INVALID
 */
export function refusePromise(returned: unknown): void {
  if (typeof returned !== 'object' || returned === null || !('then' in returned)) return
  if (typeof returned.then !== 'function') return
  // Nobody waits for it, so its rejection must not end the process as nobody's.
  returned.then(undefined, () => undefined)
  const reason = 'it returned a promise; a projection function makes all its writes before it returns'
  throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option: 'project', reason })
}

/** Whether a projection function returned {@link undecodable}. */
export function isUndecodable(returned: unknown): returned is Undecodable {
  return typeof returned === 'object' && returned !== null && (returned as Record<symbol, unknown>)[brand] === true
}
