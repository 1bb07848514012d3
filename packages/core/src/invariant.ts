import { coreErrors } from './errors.ts'

/**
 * Stops where a promise the code relies on does not hold; for faults of the program, never for bad input.
 *
 * @throws {TidemarkError} TM_CORE_INVARIANT_VIOLATED
 */
export function invariant(condition: boolean, id: string, explanation: string): asserts condition {
  if (!condition) throw coreErrors.create('TM_CORE_INVARIANT_VIOLATED', { invariant: id, explanation })
}
