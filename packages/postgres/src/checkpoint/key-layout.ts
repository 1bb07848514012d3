import { checkpointKey, metaKey } from '@tidemark/checkpoint'
import type { Namespace } from '@tidemark/checkpoint'

/** The row keys of one projection: the key names of format 1, and one per partition and side table. */
export interface KeyLayout {
  readonly meta: string
  readonly incarnation: string
  /** What every checkpoint key of the namespace starts with, whatever its topic. */
  readonly checkpoints: string
  checkpoint(topic: string, partition: number): string
  fence(topic: string, partition: number): string
  twin(topic: string, partition: number): string
  quarantine(topic: string, partition: number): string
}

/** The key layout of a namespace. A legal topic name holds no colon, so two keys never coincide. */
export function keyLayout(namespace: Namespace): KeyLayout {
  const perPartition =
    (kind: string) =>
    (topic: string, partition: number): string =>
      `${namespace}:${kind}:${topic}:${partition}`
  return {
    meta: metaKey(namespace),
    incarnation: `${namespace}:incarnation`,
    checkpoints: `${namespace}:checkpoint:`,
    checkpoint: (topic, partition) => checkpointKey(namespace, topic, partition),
    fence: perPartition('fence'),
    twin: perPartition('twin'),
    quarantine: perPartition('quarantine'),
  }
}

/** What a key of one kind in this namespace stands for, or `undefined` when it is of another namespace nested in this one. */
export function readPartitionKey(
  prefix: string,
  key: string,
): { readonly topic: string; readonly partition: number } | undefined {
  const match = /^([A-Za-z0-9._-]{1,249}):(0|[1-9][0-9]{0,5})$/.exec(key.slice(prefix.length))
  return match === null ? undefined : { topic: match[1]!, partition: Number(match[2]) }
}

/** The end of the range of all texts with a prefix, by the order of code points; `undefined` when there is none. */
export function prefixEnd(prefix: string): string | undefined {
  const points = [...prefix]
  while (points.length > 0) {
    const last = points.pop()!.codePointAt(0)!
    // The surrogates between are no characters.
    if (last < 0x10ffff) return points.join('') + String.fromCodePoint(last === 0xd7ff ? 0xe000 : last + 1)
  }
  return undefined
}
