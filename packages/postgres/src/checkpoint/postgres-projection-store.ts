import { checkpointErrors, namespaceOf, topicNameOf } from '@tidemark/checkpoint'
import type {
  AdvanceOutcome,
  AdvanceRequest,
  BootstrapOutcome,
  BootstrapRequest,
  Claim,
  ClaimRequest,
  Namespace,
  ProjectionStore,
  ReadStateRequest,
  StepLimits,
  StoredState,
  WriteBuffer,
} from '@tidemark/checkpoint'
import { reservedPrefixOf } from '@tidemark/checkpoint/memory'
import { checkLimit, invariant } from '@tidemark/core'
import { PARTITION_COUNT_MAX } from '@tidemark/log'
import { failureOf } from '../database/postgres-failure.ts'
import type { PostgresDatabase, PostgresResult, PostgresStatement } from '../database/postgres-database.ts'
import { createPostgresSession } from '../database/postgres-session.ts'
import type { PostgresSession, StatementRunner } from '../database/postgres-session.ts'
import { rowReply, textColumn } from '../database/reply-shape.ts'
import { postgresErrors } from '../errors.ts'
import { advanceInside, advanceStep } from './advance-step.ts'
import type { StepContext } from './advance-step.ts'
import { claimFences } from './claim-fences.ts'
import { createCheckpoints } from './create-checkpoints.ts'
import type { EmptyQuestion } from './create-checkpoints.ts'
import { keyLayout } from './key-layout.ts'
import { readState } from './read-state.ts'
import { tableLayout } from './table-layout.ts'
import type { SchemaNames } from './table-layout.ts'
import { stepBuffers } from './transactional-writer.ts'
import type { StepBuffers, StepSegment, TransactionalWriter } from './transactional-writer.ts'

/** What a store on Postgres needs. */
export interface PostgresProjectionStoreOptions extends SchemaNames {
  readonly database: PostgresDatabase
  /** The prefix of everything the store itself keeps. */
  readonly namespace: string
  /**
   * Whether the host's own tables of this projection are empty, asked in the transaction that creates the first checkpoints:
   * records from offset 0 must not be added to what is there. It has no default; data of the common vocabulary is
   * looked at by the store itself.
   */
  readonly isEmpty: (tx: EmptyQuestion) => Promise<boolean>
  /** Put in front of every data key. Default: nothing. */
  readonly dataPrefix?: string
}

/** A transaction that the caller has begun: one connection, by whatever client. */
export interface CallerTransaction {
  query(statement: PostgresStatement): Promise<PostgresResult>
}

/** A projection store that moves checkpoints in the transaction of the data. */
export interface PostgresProjectionStore extends ProjectionStore<TransactionalWriter> {
  readonly writeModel: 'transactional'
  /**
   * One step inside a transaction that the caller owns, for data that is written by other means.
   *
   * The caller commits only if this is `advanced` and not `resent`, and rolls back otherwise. A resent step means that
   * everything was committed before.
   * @throws {TidemarkError} after which the transaction must be rolled back.
   */
  advanceIn(transaction: CallerTransaction, request: AdvanceRequest<TransactionalWriter>): Promise<AdvanceOutcome>
}

/** The largest step: rows travel as arrays, so that the number of parameters stays the same. */
export const POSTGRES_STEP_LIMITS: StepLimits = { writesMax: 5_000, bytesMax: 4 * 1_024 * 1_024 }

/** A data prefix must stand whole in every index entry, so that data can be found by it. */
const DATA_PREFIX_LENGTH_MAX = 100

/**
 * A projection store on Postgres: every step is one transaction of data, quarantine, witness and checkpoint.
 *
 * Promises: PGS-1 to PGS-5, PGS-7 to PGS-20. Nothing is read or written before the first call; `ensurePostgresTables` creates the tables.
 * @throws {TidemarkError} TM_CHECKPOINT_NAMESPACE_INVALID, TM_CHECKPOINT_OPTION_INVALID, TM_POSTGRES_OPTION_INVALID
 */
export function createPostgresProjectionStore(options: PostgresProjectionStoreOptions): PostgresProjectionStore {
  return new Store(options)
}

class Store implements PostgresProjectionStore {
  readonly name = 'postgres transactional'
  readonly namespace: Namespace
  readonly dataPrefix: string
  readonly writesCommute = false
  readonly writeModel = 'transactional' as const
  readonly stepLimits: StepLimits = POSTGRES_STEP_LIMITS
  readonly #database: PostgresDatabase
  readonly #context: StepContext
  readonly #session: PostgresSession
  readonly #buffers: StepBuffers
  readonly #isEmpty: PostgresProjectionStoreOptions['isEmpty']

  constructor(options: PostgresProjectionStoreOptions) {
    const { database, dataPrefix = '', isEmpty } = options
    this.namespace = namespaceOf(options.namespace)
    if (typeof isEmpty !== 'function') throw optionInvalid('isEmpty', 'it must be a function')
    if (dataPrefix.length > DATA_PREFIX_LENGTH_MAX) {
      throw optionInvalid('dataPrefix', `it has ${dataPrefix.length} characters, more than ${DATA_PREFIX_LENGTH_MAX}`)
    }
    this.dataPrefix = dataPrefix
    this.#isEmpty = isEmpty
    this.#database = database
    this.#context = { database, tables: tableLayout(options), keys: keyLayout(this.namespace) }
    this.#session = createPostgresSession(database)
    this.#buffers = stepBuffers(this.name, reservedPrefixOf(this.namespace, dataPrefix))
  }

  newWrites(): WriteBuffer<TransactionalWriter> {
    return this.#buffers.create()
  }

  async read(request: ReadStateRequest): Promise<StoredState> {
    topicNameOf(request.topic)
    if (request.partitionCount !== undefined) checkPartitionCount(request.partitionCount)
    const { tables, keys } = this.#context
    return this.#session.run('read', (runner) => readState(runner, tables, keys, this.#database, request))
  }

  async claim(request: ClaimRequest): Promise<Claim> {
    topicNameOf(request.topic)
    checkPartitionCount(request.partitionCount)
    const { tables, keys } = this.#context
    return this.#session.run('claim', async (runner) => {
      await this.#checkDatabase('claim', runner)
      return claimFences(runner, tables, keys, request)
    })
  }

  async bootstrap(request: BootstrapRequest): Promise<BootstrapOutcome> {
    const { tables, keys } = this.#context
    const context = { tables, keys, dataPrefix: this.dataPrefix, isEmpty: this.#isEmpty }
    return this.#session.run('bootstrap', async (runner) => {
      await this.#checkDatabase('bootstrap', runner)
      return createCheckpoints(context, runner, request)
    })
  }

  async advance(request: AdvanceRequest<TransactionalWriter>): Promise<AdvanceOutcome> {
    const segments = this.#segmentsOf(request)
    return this.#session.run('advance', (runner) => advanceStep(this.#context, runner, request, segments))
  }

  async advanceIn(
    transaction: CallerTransaction,
    request: AdvanceRequest<TransactionalWriter>,
  ): Promise<AdvanceOutcome> {
    const segments = this.#segmentsOf(request)
    const runner: Pick<StatementRunner, 'query'> = {
      query: async (statement, source) => {
        try {
          return await transaction.query(statement)
        } catch (error) {
          throw failureOf(this.#database, 'advance', error, source)
        }
      },
    }
    return advanceInside(this.#context, runner, request, segments)
  }

  async close(): Promise<void> {
    this.#session.close()
  }

  #segmentsOf(request: AdvanceRequest<TransactionalWriter>): readonly StepSegment[] {
    const segments = this.#buffers.segmentsOf(request.writes)
    const { from, to } = request
    invariant(to >= from, 'PGS-9', `a step from ${from} back to ${to}`)
    // A step that ends where it began cannot be told from one that was made, so that it could be made twice.
    invariant(to > from || segments.length === 0, 'PGS-11', `a step with writes that stays at ${from}`)
    return this.#withPrefix(segments)
  }

  #withPrefix(segments: readonly StepSegment[]): readonly StepSegment[] {
    const prefix = this.dataPrefix
    if (prefix === '') return segments
    return segments.map((segment) =>
      segment.kind === 'statement'
        ? segment
        : { kind: 'writes', writes: segment.writes.map((write) => ({ ...write, key: `${prefix}${write.key}` })) },
    )
  }

  /** A pooler can hand out a connection to another database than the one asked for. */
  async #checkDatabase(operation: string, runner: StatementRunner): Promise<void> {
    const { address, expectedDatabase: expected } = this.#database
    const reply = await runner.query({ text: 'SELECT current_database()::text AS database', values: [] })
    const found = textColumn(operation, rowReply(operation, reply), 'database')
    if (found !== expected) throw postgresErrors.create('TM_POSTGRES_DATABASE_WRONG', { address, expected, found })
  }
}

function optionInvalid(option: string, reason: string): Error {
  return checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', { option, reason })
}

function checkPartitionCount(partitionCount: number): void {
  checkLimit('partitionCount', partitionCount, { min: 1, max: PARTITION_COUNT_MAX })
}
