import { checkpointErrors } from '../errors.ts'
import { namespaceOf } from '../namespace.ts'
import type { ProjectedDataReader, ProjectedValue } from '../projected-data.ts'
import type { ProjectionStore, StepLimits } from '../projection-store.ts'
import type { CommutingWriter, IdempotentWriter } from '../projection-write.ts'
import { createWriteBuffer } from '../write-buffer.ts'
import type { VocabularyBuffer } from '../write-buffer.ts'
import { applyWrites } from './apply-write.ts'
import { reservedPrefixOf, withDataPrefix } from './data-prefix.ts'
import { advanceStep, bootstrapStep, claimStep } from './keyspace-steps.ts'
import { readMemoryValue } from './memory-data.ts'
import type { MemoryServer } from './memory-server.ts'
import { readKeyspace } from './read-keyspace.ts'

/** What a memory store needs. */
export interface MemoryProjectionStoreOptions {
  readonly namespace: string
  /** Stands before every data key; the empty string unless said. */
  readonly dataPrefix?: string
  /** Where the data lives; shared by every writer of it. */
  readonly server: MemoryServer
  /** Random 32 lower-case hexadecimal digits, new at every call: two equal nonces would be one writer. */
  readonly nonce: () => string
  /** How much one step may hold. */
  readonly stepLimits?: StepLimits
}

/** What a transactional memory store needs besides. */
export interface TransactionalMemoryProjectionStoreOptions extends MemoryProjectionStoreOptions {
  /** Whether the projection's data is empty, asked inside the step that creates the first checkpoints. */
  readonly isEmpty: (readValue: (key: string) => ProjectedValue) => boolean
}

const defaultLimits: StepLimits = { writesMax: 2_000, bytesMax: 262_144 }

/** A projection store in memory: `process` durability, for tests and throw-away projections. Promises: CKP-20 to CKP-24. */
export function createMemoryProjectionStore(options: MemoryProjectionStoreOptions): ProjectionStore<IdempotentWriter> {
  return createStore(options, { name: 'memory', writeModel: 'idempotent', writesCommute: false }, undefined)
}

/** The same with a writer that offers commuting writes only, so that two projections may share data keys. */
export function createCommutingMemoryProjectionStore(
  options: MemoryProjectionStoreOptions,
): ProjectionStore<CommutingWriter> {
  const kind = { name: 'memory commuting', writeModel: 'idempotent', writesCommute: true } as const
  return createStore(options, kind, undefined) as ProjectionStore<CommutingWriter>
}

/**
 * The same with the rules of a transactional store: a first start only where `isEmpty` holds, and lost checkpoints are
 * not replayed.
 */
export function createTransactionalMemoryProjectionStore(
  options: TransactionalMemoryProjectionStoreOptions,
): ProjectionStore<IdempotentWriter> {
  const kind = { name: 'memory transactional', writeModel: 'transactional', writesCommute: false } as const
  return createStore(options, kind, options.isEmpty)
}

/** Reads the projected data of a memory server, under the same prefix the store writes it. */
export function createMemoryDataReader(server: MemoryServer, dataPrefix: string = ''): ProjectedDataReader {
  return { readValues: async (keys) => keys.map((key) => readMemoryValue(server.data, `${dataPrefix}${key}`)) }
}

type Kind = Pick<ProjectionStore<unknown>, 'name' | 'writeModel' | 'writesCommute'>

function createStore(
  options: MemoryProjectionStoreOptions,
  kind: Kind,
  isEmpty: TransactionalMemoryProjectionStoreOptions['isEmpty'] | undefined,
): ProjectionStore<IdempotentWriter> {
  const { server, nonce, dataPrefix = '' } = options
  const namespace = namespaceOf(options.namespace)
  const reservedPrefix = reservedPrefixOf(namespace, dataPrefix)
  let closed = false
  const requireOpen = (): void => {
    if (closed) throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', closedDetails)
  }
  return {
    ...kind,
    namespace,
    dataPrefix,
    stepLimits: options.stepLimits ?? defaultLimits,
    newWrites() {
      const buffer = createWriteBuffer({ reservedPrefix })
      return kind.writesCommute ? commutingBuffer(buffer) : buffer
    },
    async read(request) {
      requireOpen()
      return readKeyspace(server.data, namespace, request, server.facts, server.process)
    },
    async claim(request) {
      requireOpen()
      const { outcome, writes } = claimStep(server.data, namespace, request, nonce)
      applyWrites(server.data, writes)
      return outcome
    },
    async bootstrap(request) {
      requireOpen()
      const { outcome, writes } = bootstrapStep(server.data, namespace, request, nonce)
      const readValue = (key: string): ProjectedValue => readMemoryValue(server.data, `${dataPrefix}${key}`)
      if (outcome.kind === 'created' && isEmpty?.(readValue) === false) {
        return { kind: 'not-empty', key: dataPrefix, explanation: 'the data of the projection is not empty' }
      }
      applyWrites(server.data, writes)
      return outcome
    },
    async advance(request) {
      requireOpen()
      const dataWrites = withDataPrefix((request.writes as VocabularyBuffer).writes, dataPrefix)
      const { outcome, writes } = advanceStep(server.data, namespace, request, dataWrites, server.process)
      applyWrites(server.data, writes)
      return outcome
    },
    async close() {
      closed = true
    },
  }
}

/** The full writer behind a type that hides most of it would still be there at run time, so the methods are left out. */
function commutingBuffer(buffer: VocabularyBuffer): VocabularyBuffer {
  const { zadd, sadd, setIfGreater } = buffer.writer
  const writer: CommutingWriter = {
    zadd(key, mode, score, member) {
      if (mode !== 'GT' && mode !== 'LT') {
        const reason = `mode ${String(mode)} does not commute`
        throw checkpointErrors.create('TM_CHECKPOINT_WRITE_INVALID', { op: 'zadd', key: key.slice(0, 128), reason })
      }
      zadd(key, mode, score, member)
    },
    sadd,
    setIfGreater,
  }
  return Object.create(buffer, { writer: { value: writer } }) as VocabularyBuffer
}

const closedDetails = { option: 'store', reason: 'the memory store was closed before this call' }
