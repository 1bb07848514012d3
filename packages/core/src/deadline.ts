import type { Clock } from './clock.ts'
import { createCancelSource } from './cancel-source.ts'
import { coreErrors } from './errors.ts'

/**
 * The result of an operation, or an error when it takes longer than it may.
 *
 * The operation itself is not stopped: its late outcome is dropped, so use it only where a late success is harmless or
 * is discovered by a re-read (every tidemark write is compare-and-set for that reason).
 *
 * @throws {TidemarkError} TM_CORE_DEADLINE_EXCEEDED
 */
export async function withDeadline<T>(
  clock: Clock,
  what: string,
  deadlineMs: number,
  operation: Promise<T>,
): Promise<T> {
  const done = createCancelSource()
  const expiry = clock.sleep(deadlineMs, done.signal).then((): 'expired' => 'expired')
  try {
    const outcome = await Promise.race([operation.then((value) => ({ value })), expiry])
    if (outcome === 'expired') throw coreErrors.create('TM_CORE_DEADLINE_EXCEEDED', { what, deadlineMs })
    return outcome.value
  } finally {
    // Ends the sleep, so that no timer outlives the call; a late rejection of the operation is already handled by the race.
    done.cancel()
  }
}
