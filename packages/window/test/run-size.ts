import type { Parameters } from 'fast-check'

/** How many runs a property gets: the small number in every run, the full one where the contract's size is asked for. */
export function runSize<T>(ci: number, full: number): Parameters<T> {
  const seed = process.env['TIDEMARK_SEED']
  const numRuns = process.env['TIDEMARK_SIZE'] === 'full' ? full : ci
  return seed === undefined ? { numRuns } : { numRuns, seed: Number(seed) }
}
