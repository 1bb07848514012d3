import { checkpointKey, metaKey, namespaceOf, topicNameOf } from '@tidemark/checkpoint'
import type { Namespace } from '@tidemark/checkpoint'

/** The keys of one projection in one namespace; format-1 keys and the side keys beside them. */
export interface KeyLayout {
  readonly meta: string
  /** The random nonce that goes away with the data. */
  readonly incarnation: string
  /** A set of `<topic>:<partition>`, one member for every checkpoint ever created. */
  readonly partitions: string
  checkpoint(topic: string, partition: number): string
  fence(topic: string, partition: number): string
  witness(topic: string, partition: number): string
  /** A hash of offset to entry. */
  quarantine(topic: string, partition: number): string
  indexMember(topic: string, partition: number): string
  /** True for a data key that is one of ours under a tag, which no prefix keeps away. */
  isSideKey(key: string): boolean
  /** Only in a cluster, where data may lie on other servers than its checkpoint. */
  readonly shardKeys?: ShardKeys
  /** True where keys of different partitions, and of the namespace, lie in different slots and share no script. */
  readonly isSlotted: boolean
}

/** Keys by which the data in each shard of a cluster says how far it is. */
export interface ShardKeys {
  /** Lies in a slot that the number decides; the shard that serves it is the one it speaks for. */
  mark(topic: string, partition: number, tagNumber: number): string
  /** Beside the checkpoint: a hash of tag number to the mark that was due there when the checkpoint moved. */
  due(topic: string, partition: number): string
}

/**
 * The key layout of a namespace.
 *
 * A legal topic name holds no colon, so no key of one kind can be a key of another. Promises: RED-4.
 */
export function keyLayout(namespace: Namespace): KeyLayout {
  const perPartition =
    (kind: string) =>
    (topic: string, partition: number): string =>
      `${namespace}:${kind}:${topic}:${partition}`
  return {
    meta: metaKey(namespace),
    incarnation: `${namespace}:incarnation`,
    partitions: `${namespace}:partitions`,
    checkpoint: (topic, partition) => checkpointKey(namespace, topic, partition),
    fence: perPartition('fence'),
    witness: perPartition('witness'),
    quarantine: perPartition('quarantine'),
    indexMember: (topic, partition) => `${topic}:${partition}`,
    isSideKey: () => false,
    isSlotted: false,
  }
}

/** What stands behind the tag in a side key of a cluster. */
const sideKinds: ReadonlySet<string> = new Set([
  ':incarnation',
  ':partitions',
  ':fence',
  ':witness',
  ':quarantine',
  ':marks',
])

/**
 * The key layout of a namespace in a cluster: side keys carry the key they belong to as their hash tag, so that they lie in
 * its slot, while meta and checkpoints stay byte for byte what they are. Promises: RED-23.
 */
export function clusterKeyLayout(namespace: Namespace): KeyLayout {
  const meta = metaKey(namespace)
  const [tagged, shard] = [`{${namespace}:`, `{${namespace}:shard:`]
  const side =
    (kind: string) =>
    (topic: string, partition: number): string =>
      `${partitionTag(namespace, topic, partition)}:${kind}`
  return {
    ...keyLayout(namespace),
    incarnation: `{${meta}}:incarnation`,
    partitions: `{${meta}}:partitions`,
    fence: side('fence'),
    witness: side('witness'),
    quarantine: side('quarantine'),
    shardKeys: {
      mark: (topic, partition, tagNumber) => `{${namespace}:shard:${tagNumber}}:mark:${topic}:${partition}`,
      due: side('marks'),
    },
    isSideKey: (key) =>
      key.startsWith(tagged) && (key.startsWith(shard) || sideKinds.has(key.slice(key.indexOf('}') + 1))),
    isSlotted: true,
  }
}

/** What a data key begins with to lie in the slot of a partition's checkpoint, in a Redis Cluster. */
export function partitionTag(namespace: string, topic: string, partition: number): string {
  return `{${checkpointKey(namespaceOf(namespace), topicNameOf(topic), partition)}}`
}

/** What an index member stands for, or `undefined` when it is not one. */
export function readIndexMember(member: string): { readonly topic: string; readonly partition: number } | undefined {
  const match = /^([A-Za-z0-9._-]{1,249}):(0|[1-9][0-9]{0,5})$/.exec(member)
  return match === null ? undefined : { topic: match[1]!, partition: Number(match[2]) }
}

/**
 * The prefix that data keys of the host may not start with, before the data prefix is put in front of them.
 *
 * With a data prefix the forbidden part is what is left of `<namespace>:` behind it.
 */
export function reservedDataPrefix(namespace: Namespace, dataPrefix: string): string {
  const reserved = `${namespace}:`
  return reserved.startsWith(dataPrefix) ? reserved.slice(dataPrefix.length) : reserved
}
