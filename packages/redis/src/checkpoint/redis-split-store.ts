import { checkpointErrors, createSplitProjectionStore, namespaceOf } from '@tidemark/checkpoint'
import type { IdempotentWriter, ProjectionStore } from '@tidemark/checkpoint'
import type { SafeRedisSource } from '../connection/safe-redis.ts'
import { createRedisProjectionStore } from './redis-projection-store.ts'

/** What a store on two Redis servers needs. */
export interface RedisSplitProjectionStoreOptions {
  /** Where the projected data lives, and beside it its own position, witness and fence. */
  readonly data: SafeRedisSource
  /** Where meta and checkpoints live. */
  readonly checkpoints: SafeRedisSource
  /** The prefix of everything kept beside the checkpoints; beside the data it is `<namespace>:twin`. */
  readonly namespace: string
  /** Put in front of every data key. Default: nothing. */
  readonly dataPrefix?: string
}

/**
 * A projection store whose data lives on another Redis than its checkpoints.
 *
 * A step is one fenced script on the server of the data (data, twin and witness together), then a compare-and-set on the
 * server of the checkpoints. Cost: two round trips a step; a call takes at most both deadlines. Promises: RED-22, CKP-50
 * to CKP-53.
 * @throws {TidemarkError} TM_CHECKPOINT_NAMESPACE_INVALID, TM_CHECKPOINT_OPTION_INVALID
 */
export function createRedisSplitProjectionStore(
  options: RedisSplitProjectionStoreOptions,
): ProjectionStore<IdempotentWriter> {
  const { data, checkpoints, dataPrefix = '' } = options
  const namespace = namespaceOf(options.namespace)
  if (dataPrefix.startsWith(`${namespace}:`)) {
    // On its own server nothing would stand in the way, but a day both may be one.
    const reason = `"${dataPrefix}" lies inside the namespace ${namespace}`
    throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option: 'dataPrefix', reason })
  }
  return createSplitProjectionStore({
    data: createRedisProjectionStore({ redis: data, namespace: `${namespace}:twin`, form: 'atomic', dataPrefix }),
    checkpoints: createRedisProjectionStore({ redis: checkpoints, namespace, form: 'atomic' }),
  })
}
