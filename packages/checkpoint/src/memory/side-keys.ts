import type { Namespace } from '../namespace.ts'

/** The keys a keyspace store keeps beside format 1, so that format 1 stays byte-exact. */
export interface SideKeys {
  /** String: the store's stored nonce. */
  readonly incarnation: string
  /** Set: the partitions ever given a checkpoint, as decimal strings. */
  readonly partitions: string
  /** String: `<epoch>:<nonce>`. */
  fence(partition: number): string
  /** String: the encoded tail witness. */
  witness(partition: number): string
  /** Hash: offset to encoded quarantine entry. */
  quarantine(partition: number): string
}

/** The side keys of one projection. */
export function sideKeys(namespace: Namespace, topic: string): SideKeys {
  const perPartition =
    (kind: string) =>
    (partition: number): string =>
      `${namespace}:${kind}:${topic}:${partition}`
  return {
    incarnation: `${namespace}:incarnation`,
    // Four parts, so that no key of a namespace nested in this one can be the same.
    partitions: `${namespace}:index:${topic}:partitions`,
    fence: perPartition('fence'),
    witness: perPartition('witness'),
    quarantine: perPartition('quarantine'),
  }
}
