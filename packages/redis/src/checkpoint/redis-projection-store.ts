import { checkpointErrors, namespaceOf, topicNameOf } from '@tidemark/checkpoint'
import type {
  AdvanceOutcome,
  AdvanceRequest,
  BootstrapOutcome,
  BootstrapRequest,
  Claim,
  ClaimRequest,
  CommutingWriter,
  IdempotentWriter,
  Namespace,
  ProjectionStore,
  ReadStateRequest,
  StepLimits,
  StoredState,
  WriteBuffer,
} from '@tidemark/checkpoint'
import { checkLimit, invariant } from '@tidemark/core'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import { redisErrors } from '../errors.ts'
import { createRedisSession } from '../connection/redis-session.ts'
import type { RedisLink } from '../connection/redis-link.ts'
import type { RedisSession } from '../connection/redis-session.ts'
import type { SafeRedisSource } from '../connection/safe-redis.ts'
import { atomicAdvance } from './atomic-advance.ts'
import { claimFences } from './claim-fences.ts'
import { createCheckpoints } from './create-checkpoints.ts'
import { keyLayout, reservedDataPrefix } from './key-layout.ts'
import type { KeyLayout } from './key-layout.ts'
import { readState } from './read-state.ts'
import { commutingBuffers, idempotentBuffers } from './step-buffer.ts'
import type { StepBuffers } from './step-buffer.ts'
import { twoStepAdvance } from './two-step-advance.ts'
import { createReplicaWaits } from './wait-replicas.ts'
import type { RedisWait, ReplicaCall, ReplicaWaits } from './wait-replicas.ts'
import type { StepWrites } from './write-encoding.ts'

/** How a step is made. It decides which writes may exist, so it has no default. */
export type RedisStepForm = 'atomic' | 'two-step'

/** What a store on Redis needs. */
export interface RedisProjectionStoreOptions<Form extends RedisStepForm> {
  readonly redis: SafeRedisSource
  /** The prefix of everything the store itself keeps. */
  readonly namespace: string
  /**
   * `atomic`: data and checkpoint in one fenced script. `two-step`: data confirmed first, then compare-and-set; only
   * writes that commute.
   */
  readonly form: Form
  /** Put in front of every data key. Default: nothing. */
  readonly dataPrefix?: string
  /** Ask after every step how many replicas have it, and report the answer. Changes nothing else. Default: not asked. */
  readonly waitReplicas?: RedisWait
}

/** The largest script: beyond it a record is written by several. */
export const REDIS_STEP_LIMITS: StepLimits = { writesMax: 2_000, bytesMax: 256 * 1_024 }

/**
 * A projection store on a standalone Redis: data and checkpoints side by side, advanced together.
 *
 * Promises: RED-4 to RED-16, RED-20. Nothing is read or written before the first call.
 * @throws {TidemarkError} TM_CHECKPOINT_NAMESPACE_INVALID, TM_CHECKPOINT_OPTION_INVALID
 */
export function createRedisProjectionStore(
  options: RedisProjectionStoreOptions<'atomic'>,
): ProjectionStore<IdempotentWriter>
export function createRedisProjectionStore(
  options: RedisProjectionStoreOptions<'two-step'>,
): ProjectionStore<CommutingWriter>
export function createRedisProjectionStore(
  options: RedisProjectionStoreOptions<RedisStepForm>,
): ProjectionStore<IdempotentWriter> | ProjectionStore<CommutingWriter> {
  const { redis, form, dataPrefix = '' } = options
  const namespace = namespaceOf(options.namespace)
  if (dataPrefix.startsWith(`${namespace}:`)) {
    const reason = `"${dataPrefix}" lies inside the namespace ${namespace}`
    throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option: 'dataPrefix', reason })
  }
  const { address, database } = redis
  const session = createRedisSession(redis)
  return storeOfForm(form, {
    name: `redis ${String(form)}`,
    namespace,
    dataPrefix,
    address,
    database,
    session,
    keys: keyLayout(namespace),
    bootstrap: createCheckpoints,
    ...(options.waitReplicas === undefined ? {} : { waits: createReplicaWaits(options.waitReplicas, redis) }),
  })
}

/** The store of a form over what it is made of. */
export function storeOfForm(
  form: RedisStepForm,
  parts: RedisStoreParts,
): ProjectionStore<IdempotentWriter> | ProjectionStore<CommutingWriter> {
  const reserved = reservedDataPrefix(parts.namespace, parts.dataPrefix)
  switch (form) {
    case 'atomic':
      return new RedisProjectionStore(parts, false, idempotentBuffers(parts.name, reserved), atomicAdvance)
    case 'two-step':
      return new RedisProjectionStore(parts, true, commutingBuffers(parts.name, reserved), twoStepAdvance)
    default: {
      const reason = `"${String(form)}" is neither "atomic" nor "two-step"`
      throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option: 'form', reason })
    }
  }
}

/** How a form makes one step over a link. */
type Advance = (
  link: RedisLink,
  keys: KeyLayout,
  dataPrefix: string,
  limits: StepLimits,
  request: Omit<AdvanceRequest<unknown>, 'writes'>,
  step: StepWrites,
) => Promise<AdvanceOutcome>

/** What a store of any form and topology is made of. */
export interface RedisStoreParts {
  readonly name: string
  readonly namespace: Namespace
  readonly dataPrefix: string
  readonly address: string
  readonly database: number
  readonly session: RedisSession
  readonly keys: KeyLayout
  readonly bootstrap: typeof createCheckpoints
  readonly readState?: typeof readState
  readonly waits?: ReplicaWaits
}

class RedisProjectionStore<Writer> implements ProjectionStore<Writer> {
  readonly name: string
  readonly namespace: Namespace
  readonly dataPrefix: string
  readonly writesCommute: boolean
  readonly writeModel = 'idempotent' as const
  readonly stepLimits = REDIS_STEP_LIMITS
  readonly #parts: RedisStoreParts
  readonly #buffers: StepBuffers<Writer>
  readonly #advance: Advance

  constructor(parts: RedisStoreParts, writesCommute: boolean, buffers: StepBuffers<Writer>, advance: Advance) {
    this.name = parts.name
    this.namespace = parts.namespace
    this.dataPrefix = parts.dataPrefix
    this.writesCommute = writesCommute
    this.#parts = parts
    this.#buffers = buffers
    this.#advance = advance
  }

  newWrites(): WriteBuffer<Writer> {
    return this.#buffers.create()
  }

  async read(request: ReadStateRequest): Promise<StoredState> {
    topicNameOf(request.topic)
    if (request.partitionCount !== undefined) checkPartitionCount(request.partitionCount)
    const { keys, database, waits, readState: readAll = readState } = this.#parts
    const { value, call } = await this.#run('read', (link) => readAll(link, keys, database, request))
    return waits === undefined ? value : waits.stateOf(call, value)
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    topicNameOf(request.topic)
    checkPartitionCount(request.partitionCount)
    const { keys } = this.#parts
    const { value } = await this.#run('claim', async (link) => {
      this.#checkWritable(link, 'claim')
      return claimFences(link, keys, request)
    })
    return value
  }

  async bootstrap(request: BootstrapRequest): Promise<BootstrapOutcome> {
    const { keys, bootstrap } = this.#parts
    const { value } = await this.#run('bootstrap', async (link) => {
      this.#checkWritable(link, 'bootstrap')
      return bootstrap(link, keys, request)
    })
    return value
  }

  async advance(request: AdvanceRequest<Writer>): Promise<AdvanceOutcome> {
    const step = this.#buffers.writesOf(request.writes)
    invariant(request.to >= request.from, 'RED-9', `a step from ${request.from} back to ${request.to}`)
    const { keys, waits } = this.#parts
    const { value, call } = await this.#run('advance', async (link): Promise<AdvanceOutcome> => {
      this.#checkWritable(link, 'advance')
      const { process } = link.facts
      if (process !== request.process) return { kind: 'process-changed', process }
      const outcome = await this.#advance(link, keys, this.dataPrefix, this.stepLimits, request, step)
      // The server was exchanged behind an open socket (a proxy): what the link knows about it is no longer true.
      if (outcome.kind === 'process-changed') link.destroy()
      return outcome
    })
    // Outside the work of the call: what the replicas say, or do not, is no failure of a confirmed step.
    if (value.kind === 'advanced') await waits?.report(call, request.partition)
    return value
  }

  close(): Promise<void> {
    return this.#parts.session.close()
  }

  /** Does the work of a call on a link, in turn with the questions to replicas that go over it. */
  async #run<T>(
    operation: string,
    work: (link: RedisLink) => Promise<T>,
  ): Promise<{ readonly value: T; readonly call: ReplicaCall }> {
    const { session, waits } = this.#parts
    const startedAtMs = performance.now()
    return session.run(operation, async (link) => {
      const value = await (waits === undefined ? work(link) : waits.during(link, () => work(link)))
      return { value, call: { link, startedAtMs } }
    })
  }

  /** A connection that fell through to another logical database must not be written to; reading reports it. */
  #checkWritable(link: RedisLink, operation: string): void {
    const { address, database } = this.#parts
    const [expected, found] = [String(database), link.facts.database]
    if (expected !== found) {
      throw redisErrors.create('TM_REDIS_DATABASE_WRONG', { address, expected, found })
    }
    if (!link.facts.isPrimary) {
      const site = { operation, command: 'write', key: '', reply: 'the server is a replica' }
      throw redisErrors.create('TM_REDIS_READ_ONLY', site)
    }
  }
}

function checkPartitionCount(partitionCount: number): void {
  checkLimit('partitionCount', partitionCount, { min: 1, max: PARTITION_COUNT_MAX })
}
