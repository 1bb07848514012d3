import { decodeOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { decodeWitness, identityDifferences } from '@tidemark/log'
import type { IdentityField, LogIdentity, TailWitness } from '@tidemark/log'
import { counted } from './counted.ts'
import { decodeCheckpointLike, decodeMeta } from './checkpoint-format.ts'
import type { DecodedIdentity, FieldFault, StoredCheckpoint, StoredMeta } from './checkpoint-format.ts'
import { checkpointKey, metaKey } from './namespace.ts'
import type { Namespace } from './namespace.ts'
import { refuse } from './refusal.ts'
import type { Refusal, RefusalCode } from './refusal.ts'
import { readableTwins, reviewTwins } from './twin-review.ts'
import type { StoredState } from './stored-state.ts'

/** Stored state, decoded and checked against itself. What could not be decoded is in `refusals` and nowhere else. */
export interface StoredReview {
  readonly meta: StoredMeta | undefined
  readonly hasMeta: boolean
  readonly checkpoints: ReadonlyMap<number, StoredCheckpoint>
  /** Partitions with any stored checkpoint, decodable or not. */
  readonly present: ReadonlySet<number>
  readonly witnesses: ReadonlyMap<number, TailWitness>
  /** What the data itself says, where it lives apart; a twin that cannot be read is `damaged`. */
  readonly twins: ReadonlyMap<number, Offset | 'damaged'> | undefined
  readonly refusals: readonly Refusal[]
}

/** Decodes stored state and lists everything in which it is damaged or contradicts itself. Promises: CKP-3. */
export function reviewStored(namespace: Namespace, topic: string, stored: StoredState): StoredReview {
  const refusals: Refusal[] = stored.unreadable.map(({ key, problem }) =>
    refuse('UNPARSEABLE', `${key} cannot be read: ${problem}`, { key, problem }),
  )
  const meta = reviewMeta(namespace, stored, refusals)
  const checkpoints = new Map<number, StoredCheckpoint>()
  let like: DecodedIdentity | undefined
  for (const partition of partitionsOf(stored.checkpoints)) {
    const fields = stored.checkpoints.get(partition)!
    const decoded = decodeCheckpointLike(fields, like)
    if (decoded.kind === 'faulty') {
      const key = checkpointKey(namespace, topic, partition)
      refusals.push(...decoded.faults.map((fault) => faultRefusal(key, fault, partition)))
      continue
    }
    const { identity } = decoded.value
    if (identity !== like?.identity) like = { fields, identity }
    checkpoints.set(partition, decoded.value)
    if (contradicts(partition, decoded.value, meta)) {
      const key = checkpointKey(namespace, topic, partition)
      refusals.push(...checkpointRefusals(key, partition, decoded.value, meta))
    }
  }
  const twins = stored.twins === undefined ? undefined : reviewTwins(stored.twins, refusals)
  const readable = twins === undefined ? undefined : readableTwins(twins)
  const applied = (partition: number): Offset | undefined =>
    readable === undefined ? checkpoints.get(partition)?.nextOffset : readable.get(partition)
  const witnesses = reviewWitnesses(namespace, stored, applied, refusals)
  const present = new Set(stored.checkpoints.keys())
  for (const partition of unreadableCheckpoints(namespace, topic, stored)) present.add(partition)
  const hasMeta = stored.meta !== undefined || stored.unreadable.some(({ key }) => key === metaKey(namespace))
  if (!hasMeta && present.size > 0) {
    const partitions = [...present].sort((a, b) => a - b)
    refusals.push(
      refuse(
        'CHECKPOINTS_WITHOUT_META',
        `${metaKey(namespace)} is missing, but ${counted(present.size, 'checkpoint exists', 'checkpoints exist')}`,
        {
          key: metaKey(namespace),
          partitions: partitions.slice(0, 32),
        },
      ),
    )
  }
  return { meta, hasMeta, checkpoints, present, witnesses, twins, refusals }
}

/** A key that holds something else than a checkpoint is damaged, not absent. */
function unreadableCheckpoints(namespace: Namespace, topic: string, stored: StoredState): readonly number[] {
  const prefix = checkpointKey(namespace, topic, 0).slice(0, -1)
  return stored.unreadable.flatMap(({ key }) => {
    const partition = key.startsWith(prefix) ? decodeOffset(key.slice(prefix.length)) : undefined
    return partition === undefined ? [] : [Number(partition)]
  })
}

function reviewMeta(namespace: Namespace, stored: StoredState, refusals: Refusal[]): StoredMeta | undefined {
  if (stored.meta === undefined) return undefined
  const decoded = decodeMeta(stored.meta)
  if (decoded.kind === 'decoded') return decoded.value
  refusals.push(...decoded.faults.map((fault) => faultRefusal(metaKey(namespace), fault)))
  return undefined
}

const faultCodes = {
  missing: 'FIELD_MISSING',
  unknown: 'FIELD_UNKNOWN',
  unparseable: 'UNPARSEABLE',
  'format-version': 'FORMAT_VERSION',
} as const satisfies Record<FieldFault['kind'], RefusalCode>

function faultRefusal(key: string, fault: FieldFault, partition?: number): Refusal {
  const code = faultCodes[fault.kind]
  switch (fault.kind) {
    case 'missing':
      return refuse(code, `${key} has no field ${fault.field}`, { key, field: fault.field }, partition)
    case 'unknown':
      return refuse(code, `${key} has the unknown field ${fault.field}`, { key, field: fault.field }, partition)
    case 'unparseable':
      return refuse(
        code,
        `${key}: ${fault.field} is "${fault.text}"`,
        { key, field: fault.field, text: fault.text },
        partition,
      )
    case 'format-version':
      return refuse(
        code,
        `${key} has format version "${fault.text}"; this version reads "1"`,
        { key, found: fault.text },
        partition,
      )
  }
}

/** Whether anything at all is wrong: asked for every partition, so nothing is built to answer it. */
function contradicts(partition: number, checkpoint: StoredCheckpoint, meta: StoredMeta | undefined): boolean {
  if (checkpoint.partition !== partition) return true
  return meta !== undefined && identityDifferences(meta.identity, checkpoint.identity).length > 0
}

function checkpointRefusals(
  key: string,
  partition: number,
  checkpoint: StoredCheckpoint,
  meta: StoredMeta | undefined,
): readonly Refusal[] {
  const refusals: Refusal[] = []
  if (checkpoint.partition !== partition) {
    const message = `${key} says it is of partition ${checkpoint.partition}`
    refusals.push(refuse('PARTITION_FIELD', message, { key, found: checkpoint.partition }, partition))
  }
  for (const { field, expected, found } of meta === undefined
    ? []
    : identityDifferences(meta.identity, checkpoint.identity)) {
    const message = `${key}: ${field} is ${found}, meta has ${expected}`
    refusals.push(
      refuse('CHECKPOINT_UNLIKE_META', message, { key, field, meta: expected, checkpoint: found }, partition),
    )
  }
  return refusals
}

function reviewWitnesses(
  namespace: Namespace,
  stored: StoredState,
  applied: (partition: number) => Offset | undefined,
  refusals: Refusal[],
): ReadonlyMap<number, TailWitness> {
  const witnesses = new Map<number, TailWitness>()
  for (const partition of partitionsOf(stored.witnesses)) {
    const text = stored.witnesses.get(partition)!
    const witness = decodeWitness(text)
    const next = applied(partition)
    if (witness === undefined) {
      const excerpt = text.slice(0, 64)
      const message = `the tail witness of partition ${partition} in ${namespace} is damaged: "${excerpt}"`
      refusals.push(refuse('UNPARSEABLE', message, { text: excerpt }, partition))
    } else if (next !== undefined && witness.offset >= next) {
      // Both are written in one step, so a witness at or beyond the position was never written by this store.
      const message = `the tail witness of partition ${partition} is of record ${witness.offset}, but the next record is ${next}`
      refusals.push(refuse('UNPARSEABLE', message, { witness: String(witness.offset), next: String(next) }, partition))
    } else {
      witnesses.set(partition, witness)
    }
  }
  return witnesses
}

const identityCodes = {
  clusterId: 'CLUSTER_ID',
  topic: 'TOPIC_NAME',
  topicId: 'TOPIC_ID',
  partitionCount: 'PARTITION_COUNT',
} as const satisfies Record<IdentityField, RefusalCode>

/** Every way in which the stored identity is not that of the log found. Promises: CKP-4. */
export function identityRefusals(review: StoredReview, identity: LogIdentity): readonly Refusal[] {
  // Without a readable meta the checkpoints still say where they came from; the first stands for all, since differences
  // among them are refused on their own.
  const held = review.meta?.identity ?? review.checkpoints.values().next().value?.identity
  if (held === undefined) return []
  return identityDifferences(held, identity).map(({ field, expected, found }) =>
    refuse(identityCodes[field], `${field}: stored ${expected}, the broker has ${found}`, {
      stored: expected,
      broker: found,
    }),
  )
}

/** In ascending order, in which most stores answer anyway. */
function partitionsOf(map: ReadonlyMap<number, unknown>): readonly number[] {
  const partitions = [...map.keys()]
  const isAscending = partitions.every((partition, index) => index === 0 || partitions[index - 1]! < partition)
  return isAscending ? partitions : partitions.sort((a, b) => a - b)
}
