import { isMap, isScalar, isSeq } from 'yaml'
import { PARTITIONS_MAX } from '../policy-rules.ts'
import { shownValue } from '../policy-problem.ts'
import type { PolicyPath } from '../policy-problem.ts'
import type { PolicySource } from '../stream-time-policy.ts'

/** A line that would be right, for the message that it is missing. */
export const sourcesExample = 'sources: { orders: 0-11 }'

/** Something of the sources that could not be read. */
export interface SourcesFault {
  readonly path: PolicyPath
  readonly node: unknown
  readonly message: string
}

/**
 * The sources of a compact text: a map from topic to partitions, each a number, a range such as `0-11`, or a list of these.
 *
 * Cost: a range is spelled out only within the number of partitions one policy takes.
 */
export function readCompactSources(node: unknown): {
  readonly sources: PolicySource[]
  readonly faults: SourcesFault[]
} {
  if (!isMap(node)) {
    return { sources: [], faults: [{ path: [], node, message: `is not a map of topics, such as ${sourcesExample}` }] }
  }
  const sources: PolicySource[] = []
  const faults: SourcesFault[] = []
  for (const { key, value } of node.items) {
    if (!isScalar(key) || typeof key.value !== 'string') {
      faults.push({ path: [], node: key, message: 'has a topic that is no text' })
      continue
    }
    const source = key.value
    const items: readonly unknown[] = isSeq(value) ? value.items : [value]
    const partitions: number[] = []
    items.forEach((item, at) => {
      const read = readPartitions(item)
      const path = isSeq(value) ? [source, at] : [source]
      if (typeof read === 'string') faults.push({ path, node: item ?? key, message: read })
      else for (const partition of read) partitions.push(partition)
    })
    sources.push({ source, partitions })
  }
  return { sources, faults }
}

/** The partitions of a text, or why it says none. */
function readPartitions(node: unknown): readonly number[] | string {
  const text: unknown = isScalar(node) ? node.value : undefined
  const [, first, last = first] = typeof text === 'string' ? (/^(0|[1-9]\d*)(?:-(0|[1-9]\d*))?$/.exec(text) ?? []) : []
  if (first === undefined) {
    const shown = typeof text === 'string' ? shownValue(text) : 'no single value'
    return `is ${shown}, not a partition or a range of them, such as 0-11`
  }
  const from = Number(first)
  const count = Number(last) - from + 1
  if (count < 1) return `is ${shownValue(text)}, a range that ends before it begins`
  if (count > PARTITIONS_MAX) return `is ${shownValue(text)}, more than ${PARTITIONS_MAX} partitions`
  return Array.from({ length: count }, (_, at) => from + at)
}

/** Partitions in ascending order as the shortest texts and numbers; {@link readCompactSources} reads them back as the same. */
export function writePartitions(partitions: readonly number[]): string | number | (string | number)[] {
  const parts: (string | number)[] = []
  let first = 0
  partitions.forEach((partition, at) => {
    if (partitions[at + 1] === partition + 1) return
    const from = partitions[first]!
    parts.push(from === partition ? partition : `${from}-${partition}`)
    first = at + 1
  })
  return parts.length === 1 ? parts[0]! : parts
}
