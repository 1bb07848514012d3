import type { StateProblem } from './state-problem.ts'

/**
 * One partition of one topic incarnation that a stream is read from.
 *
 * The engine holds these in a fixed list and knows each by its index there.
 */
export interface InputPartition {
  readonly source: string
  readonly partition: number
  /** Which incarnation of the partition; offsets of two generations have nothing to do with each other. */
  readonly generation: number
}

/** One text for one partition of one generation. */
export function placeOf({ source, partition, generation }: InputPartition): string {
  return `${source}[${partition}] generation ${generation}`
}

/** Where stored partitions are not the ones that are read, index by index. */
export function misfits(partitions: readonly InputPartition[], stored: readonly InputPartition[]): StateProblem[] {
  const problems: StateProblem[] = []
  for (let index = 0; index < Math.max(partitions.length, stored.length); index += 1) {
    const [expected, found] = [partitions[index], stored[index]].map((each) => (each ? placeOf(each) : 'none'))
    if (expected !== found) {
      problems.push({ path: `partitions.${index}`, message: `it is of ${found}, where ${expected} is read` })
    }
  }
  return problems
}
