import { randomInt } from 'node:crypto'
import { UsageError } from '../plan/usage-error.mjs'

/** The seed of a run: TIDEMARK_SEED, else a new one; always printed, so that a failure can be repeated. */
export function runSeed(env = process.env) {
  const named = env.TIDEMARK_SEED
  if (named === undefined || named === '') return String(randomInt(1, 2 ** 31))
  if (!/^-?\d+$/.test(named))
    throw new UsageError(`TIDEMARK_SEED is ${JSON.stringify(named)}; it must be a whole number`)
  return named
}
