import { invariant } from '@tidemark/core'
import { judgeFence } from '@tidemark/log'
import type { Fence } from '@tidemark/log'
import { checkpointErrors } from '../errors.ts'
import type {
  AdvanceOutcome,
  AdvanceRequest,
  BootstrapOutcome,
  BootstrapRequest,
  Claim,
  ClaimRequest,
  ProjectionStore,
  ReadStateRequest,
} from '../projection-store.ts'
import type { StoredState } from '../stored-state.ts'
import { joinProcesses, splitProcesses } from './joined-incarnation.ts'
import { mergeSides } from './merge-sides.ts'

/** The two servers of a split store. */
export interface SplitProjectionStoreOptions<Writer> {
  /**
   * Keeps the data, and beside it, in a namespace of its own, a twin of every position with a fence. Each of its steps is
   * one of its own: data, twin and witness move together there.
   */
  readonly data: ProjectionStore<Writer>
  /** Keeps meta and checkpoints under the namespace of the projection. */
  readonly checkpoints: ProjectionStore<unknown>
}

/**
 * A projection store whose data lives on another server than its checkpoints.
 *
 * Order: data with its twin first, then the checkpoint, so that what a crash leaves is data that is ahead, which is not
 * written again; data that is behind (an older copy) is replayed from its own position. Both servers are fenced.
 * Cost: two round trips a step. A call takes at most the deadlines of both stores. Promises: CKP-19, CKP-50 to CKP-53.
 * @throws {TidemarkError} TM_CHECKPOINT_OPTION_INVALID for a transactional data store, whose writes may not be repeated, or
 *   two stores of one namespace.
 */
export function createSplitProjectionStore<Writer>(
  options: SplitProjectionStoreOptions<Writer>,
): ProjectionStore<Writer> {
  const { data, checkpoints } = options
  if (data.writeModel !== 'idempotent') throw invalid(`${data.name} takes writes that may not be repeated`)
  if (data.namespace === checkpoints.namespace) {
    throw invalid(`both stores have the namespace ${data.namespace}; on one server they would be each other's`)
  }
  return new SplitProjectionStore(data, checkpoints)
}

class SplitProjectionStore<Writer> implements ProjectionStore<Writer> {
  readonly #data: ProjectionStore<Writer>
  readonly #checkpoints: ProjectionStore<unknown>
  #held: ReadonlyMap<number, Fence> = new Map()

  constructor(data: ProjectionStore<Writer>, checkpoints: ProjectionStore<unknown>) {
    this.#data = data
    this.#checkpoints = checkpoints
  }

  get name(): string {
    return `split: data in ${this.#data.name}, checkpoints in ${this.#checkpoints.name}`
  }

  get namespace(): ProjectionStore<Writer>['namespace'] {
    return this.#checkpoints.namespace
  }

  get dataPrefix(): string {
    return this.#data.dataPrefix
  }

  get writesCommute(): boolean {
    return this.#data.writesCommute
  }

  get writeModel(): 'idempotent' {
    return 'idempotent'
  }

  get stepLimits(): ProjectionStore<Writer>['stepLimits'] {
    return this.#data.stepLimits
  }

  newWrites(): ReturnType<ProjectionStore<Writer>['newWrites']> {
    return this.#data.newWrites()
  }

  async read(request: ReadStateRequest): Promise<StoredState> {
    // In this order a step that runs meanwhile can only show data that is ahead, which is what it is.
    const own = await this.#checkpoints.read(request)
    const data = await this.#data.read(request)
    return mergeSides(own, data, this.#data.namespace, (partition) => this.#fenceToReport(partition, own, data))
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    // The data first: an older writer loses there before it can be ahead of a checkpoint that is no longer its own.
    const data = await this.#data.claim(request)
    const nonces = new Map([...data.fences].map(([partition, { nonce }]) => [partition, nonce]))
    const own = await this.#checkpoints.claim({ ...request, nonces })
    for (const [partition, nonce] of nonces) {
      if (own.fences.get(partition)?.nonce !== nonce) throw invalid(`${this.#checkpoints.name} takes no given nonces`)
    }
    this.#held = own.fences
    return own
  }

  async bootstrap(request: BootstrapRequest): Promise<BootstrapOutcome> {
    const { topic, partitionCount } = request.identity
    const found = await this.#data.read({ topic, partitionCount })
    // Twins first: a checkpoint without one is refused at the next start, a twin without a checkpoint is not.
    const missing = {
      createMeta: found.meta === undefined,
      partitions: request.partitions.filter((partition) => !found.checkpoints.has(partition)),
    }
    // Asked even where nothing is missing: it says whether the data is of this log.
    const { identity, fences } = request
    const outcome = await this.#data.bootstrap({ identity, ...missing, fences })
    if (outcome.kind !== 'created') return outcome
    return this.#checkpoints.bootstrap(request)
  }

  async advance(request: AdvanceRequest<Writer>): Promise<AdvanceOutcome> {
    const { apart, ...step } = request
    const { identity, partition, fence, from, to } = step
    const dataAt = apart?.data ?? from
    const checkpointAt = apart?.checkpoint ?? from
    invariant(dataAt <= from || to <= dataAt, 'split-step', `a step to ${to} passes data that is at ${dataAt}`)
    const processes = splitProcesses(request.process)
    let resent = true
    if (dataAt <= from) {
      const outcome = await this.#data.advance({ ...step, process: processes.data })
      if (outcome.kind === 'process-changed') {
        return { kind: 'process-changed', process: joinProcesses(processes.checkpoints, outcome.process) }
      }
      if (outcome.kind !== 'advanced') return outcome
      resent = outcome.resent
    }
    if (checkpointAt > from && to <= checkpointAt) return { kind: 'advanced', resent }
    const outcome = await this.#checkpoints.advance({
      identity,
      partition,
      fence,
      process: processes.checkpoints,
      from: checkpointAt,
      to,
      writes: this.#checkpoints.newWrites(),
      witness: undefined,
      quarantine: [],
    })
    if (outcome.kind === 'process-changed') {
      return { kind: 'process-changed', process: joinProcesses(outcome.process, processes.data), dataAt: to }
    }
    return outcome.kind === 'advanced' ? { kind: 'advanced', resent: resent && outcome.resent } : outcome
  }

  async close(): Promise<void> {
    await Promise.all([this.#data.close(), this.#checkpoints.close()])
  }

  /**
   * One fence stands for both sides, and both hold its nonce. Where the side of the data does not, or not any more, that is
   * what the holder must see.
   */
  #fenceToReport(partition: number, own: StoredState, data: StoredState): string | undefined {
    const found = own.fences.get(partition)
    const held = this.#held.get(partition)
    if (held === undefined || found === undefined || judgeFence(held, found).kind !== 'held') return found
    const foundData = data.fences.get(partition)
    return judgeFence(held, foundData).kind === 'held' ? found : foundData
  }
}

function invalid(reason: string): Error {
  return checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option: 'data', reason })
}
