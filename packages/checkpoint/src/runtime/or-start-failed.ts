import { messageOf } from '@tidemark/core'
import { checkpointErrors } from '../errors.ts'

/**
 * The answer of a port that a start (or the start of a rebuild) asks.
 *
 * @throws {TidemarkError} TM_CHECKPOINT_START_FAILED naming the step, with whatever the port threw as its cause.
 */
export async function orStartFailed<T>(topic: string, step: string, ask: () => Promise<T>): Promise<T> {
  try {
    return await ask()
  } catch (error) {
    const details = { topic, step, reason: messageOf(error) }
    throw checkpointErrors.create('TM_CHECKPOINT_START_FAILED', details, { cause: error })
  }
}
