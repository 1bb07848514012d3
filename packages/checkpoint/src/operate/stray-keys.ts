import type { CancelSignal } from '@tidemark/core'
import { decodeOffset } from '@tidemark/core'
import { metaKey } from '../namespace.ts'
import type { Namespace } from '../namespace.ts'
import type { StoreInspector } from '../store-inspector.ts'

/** What a full pass over a namespace found besides the keys a start knows. Lists are bounded, counts are not. */
export interface StrayKeys {
  /** Distinct keys of the namespace where the store shows each once; a store that shows one twice counts it twice. */
  readonly keysSeen: number
  /** Partitions of the topic beyond its count that have a checkpoint, ascending; the first thousand. */
  readonly checkpointsBeyond: readonly number[]
  /** Keys of another topic, of a partition beyond the count, or of no kind we write; the first thousand. */
  readonly strays: readonly string[]
  readonly strayCount: number
}

/** How many strays are listed by name. */
const straysListedMax = 1_000

/**
 * Walks every key under a namespace and lists what a projection of this topic and partition count did not write.
 *
 * A namespace nested in this one (`a:b` in `a`) shows up as strays of it. Cost: a pass over the whole store.
 */
export async function findStrayKeys(
  inspector: Pick<StoreInspector, 'scanKeys'>,
  of: { readonly namespace: Namespace; readonly topic: string; readonly partitionCount: number },
  signal?: CancelSignal,
): Promise<StrayKeys> {
  const strays = new Set<string>()
  const beyond = new Set<number>()
  let keysSeen = 0
  let strayCount = 0
  for await (const page of inspector.scanKeys(signal)) {
    for (const key of page) {
      keysSeen += 1
      const place = placeOf(of.namespace, key)
      if (isKnown(place, of)) continue
      strayCount += 1
      if (strays.size < straysListedMax) strays.add(key)
      if (place.kind === 'checkpoint' && place.topic === of.topic && beyond.size < straysListedMax) {
        beyond.add(place.partition)
      }
    }
  }
  const checkpointsBeyond = [...beyond].sort((a, b) => a - b)
  return { keysSeen, checkpointsBeyond, strays: [...strays], strayCount }
}

type Place =
  | { readonly kind: 'namespace' }
  | { readonly kind: 'other' }
  | {
      readonly kind: 'checkpoint' | 'fence' | 'witness' | 'quarantine' | 'twin'
      readonly topic: string
      readonly partition: number
    }

const perPartitionKinds = ['checkpoint', 'fence', 'witness', 'quarantine', 'twin'] as const

/** What a key of a namespace is of; a legal topic name holds no colon. */
function placeOf(namespace: Namespace, key: string): Place {
  const rest = key.slice(namespace.length + 1)
  if (key === metaKey(namespace) || rest === 'incarnation' || rest === 'partitions') return { kind: 'namespace' }
  if (/^index:[^:]+:partitions$/.test(rest)) return { kind: 'namespace' }
  const [name, topic, number, ...more] = rest.split(':')
  const kind = perPartitionKinds.find((each) => each === name)
  const partition = number === undefined ? undefined : decodeOffset(number)
  if (kind === undefined || topic === undefined || partition === undefined || more.length > 0) return { kind: 'other' }
  return { kind, topic, partition: Number(partition) }
}

function isKnown(place: Place, of: { readonly topic: string; readonly partitionCount: number }): boolean {
  if (place.kind === 'namespace') return true
  return place.kind !== 'other' && place.topic === of.topic && place.partition < of.partitionCount
}
