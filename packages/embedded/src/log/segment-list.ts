import { readdir } from 'node:fs/promises'
import { segmentBase } from './log-layout.ts'

/** The first offsets of a partition's segments, rising. */
export async function listSegments(directory: string): Promise<readonly bigint[]> {
  const bases = (await readdir(directory)).flatMap((name) => segmentBase(name) ?? [])
  return bases.sort((a, b) => (a < b ? -1 : 1))
}

/** The segment that holds an offset: the last one that begins at or before it. */
export function segmentOf(bases: readonly bigint[], offset: bigint): bigint | undefined {
  let low = 0
  let high = bases.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (bases[middle]! <= offset) low = middle + 1
    else high = middle
  }
  return bases[low - 1]
}
