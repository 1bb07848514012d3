import type { z } from 'zod'

/** A fault of stored state, and where it is. */
export interface StateProblem {
  readonly path: string
  readonly message: string
}

/** What was read, or everything that keeps it from being read. */
export type StateReading<S> =
  | { readonly kind: 'state'; readonly state: S }
  | { readonly kind: 'invalid'; readonly problems: readonly StateProblem[] }

/** Stored state of a shape, then without contradictions; all faults of the first kind at once, or all of the second. */
export function readState<S>(
  stored: unknown,
  shape: z.ZodType<S>,
  contradictions: (state: S) => StateProblem[],
): StateReading<S> {
  const read = shape.safeParse(stored)
  if (!read.success) {
    const problems = read.error.issues.map(({ path, message }) => ({ path: path.join('.') || '$', message }))
    return { kind: 'invalid', problems }
  }
  const problems = contradictions(read.data)
  return problems.length > 0 ? { kind: 'invalid', problems } : { kind: 'state', state: read.data }
}
