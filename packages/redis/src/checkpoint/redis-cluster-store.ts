import { checkpointErrors, namespaceOf } from '@tidemark/checkpoint'
import type {
  AdvanceOutcome,
  AdvanceRequest,
  CommutingWriter,
  IdempotentWriter,
  ProjectionStore,
} from '@tidemark/checkpoint'
import { isTidemarkError } from '@tidemark/core'
import { openClusterLink } from '../connection/cluster-link.ts'
import { openedSession } from '../connection/redis-session.ts'
import type { RedisSession } from '../connection/redis-session.ts'
import { retryingSession } from '../connection/retrying-session.ts'
import type { SafeRedisClusterSource } from '../connection/safe-redis-cluster.ts'
import { createClusterCheckpoints } from './create-checkpoints.ts'
import { clusterKeyLayout } from './key-layout.ts'
import { createMarkedCheckpoints, readMarkedState } from './read-marks.ts'
import { storeOfForm } from './redis-projection-store.ts'
import type { RedisStepForm } from './redis-projection-store.ts'

/** What a store on a Redis Cluster needs. */
export interface RedisClusterProjectionStoreOptions<Form extends RedisStepForm> {
  readonly cluster: SafeRedisClusterSource
  /** The prefix of everything the store itself keeps. */
  readonly namespace: string
  /**
   * `atomic`: data and checkpoint in one fenced script, for data keys that begin with the tag of their partition, see
   * {@link partitionTag}; another key is refused. `two-step`: data keys anywhere, only writes that commute, confirmed first.
   */
  readonly form: Form
  /** Put in front of every data key; without braces, which would decide its slot. Default: nothing. */
  readonly dataPrefix?: string
}

/** What may be asked again while the cluster is being repaired; a step may not. */
const repeatable: ReadonlySet<string> = new Set(['read', 'claim', 'bootstrap', 'read topology'])

/**
 * A projection store on a Redis Cluster.
 *
 * Checkpoints spread over the slots, each with its side keys. A failover, a restart and a moved slot are another process to
 * the projection: nothing is written until everything was read again. Promises: RED-23 to RED-26.
 * @throws {TidemarkError} TM_CHECKPOINT_NAMESPACE_INVALID, TM_CHECKPOINT_OPTION_INVALID
 */
export function createRedisClusterProjectionStore(
  options: RedisClusterProjectionStoreOptions<'atomic'>,
): ProjectionStore<IdempotentWriter>
export function createRedisClusterProjectionStore(
  options: RedisClusterProjectionStoreOptions<'two-step'>,
): ProjectionStore<CommutingWriter>
export function createRedisClusterProjectionStore(
  options: RedisClusterProjectionStoreOptions<RedisStepForm>,
): ProjectionStore<IdempotentWriter> | ProjectionStore<CommutingWriter> {
  const { cluster, form, dataPrefix = '' } = options
  const namespace = namespaceOf(options.namespace)
  if (/[{}]/.test(dataPrefix) || dataPrefix.startsWith(`${namespace}:`)) {
    const reason = `"${dataPrefix.slice(0, 64)}" holds a brace or lies inside the namespace ${namespace}`
    throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option: 'dataPrefix', reason })
  }
  const opened = openedSession(cluster, () => openClusterLink(cluster))
  const session = retryingSession(opened, cluster.commandDeadlineMs, repeatable)
  const store = storeOfForm(form, {
    name: `redis cluster ${String(form)}`,
    namespace,
    dataPrefix,
    address: cluster.address,
    database: 0,
    session,
    keys: clusterKeyLayout(namespace),
    // In the atomic form data and checkpoint lie in one slot, and are lost together or not at all.
    ...(form === 'two-step'
      ? { bootstrap: createMarkedCheckpoints, readState: readMarkedState }
      : { bootstrap: createClusterCheckpoints }),
  })
  return withMovedSlots(store as ProjectionStore<never>, session)
}

/**
 * A step that was sent to a node which no longer serves its slot was not run there: to the projection that is another
 * process. Its earlier commands, where it has several, are repeatable writes.
 */
function withMovedSlots<Writer>(store: ProjectionStore<Writer>, session: RedisSession): ProjectionStore<Writer> {
  const advance = async (request: AdvanceRequest<Writer>): Promise<AdvanceOutcome> => {
    try {
      return await store.advance(request)
    } catch (error) {
      if (!isMoved(error)) throw error
      const process = await session.run('read topology', async (link) => link.facts.process)
      if (process === request.process) throw error
      return { kind: 'process-changed', process }
    }
  }
  return {
    name: store.name,
    namespace: store.namespace,
    dataPrefix: store.dataPrefix,
    writesCommute: store.writesCommute,
    writeModel: store.writeModel,
    stepLimits: store.stepLimits,
    newWrites: () => store.newWrites(),
    read: (request) => store.read(request),
    claim: (request) => store.claim(request),
    bootstrap: (request) => store.bootstrap(request),
    advance,
    close: () => store.close(),
  }
}

function isMoved(error: unknown): boolean {
  if (!isTidemarkError(error, 'TM_REDIS_CLUSTER_REDIRECT')) return false
  const { reply } = error.details as { readonly reply?: unknown }
  return typeof reply === 'string' && reply.startsWith('MOVED')
}
