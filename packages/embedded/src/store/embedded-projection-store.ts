import { randomBytes } from 'node:crypto'
import { namespaceOf } from '@tidemark/checkpoint'
import { createWriteBuffer } from '@tidemark/checkpoint'
import type {
  IdempotentWriter,
  ProjectedDataReader,
  ProjectionStore,
  StoreFacts,
  VocabularyBuffer,
} from '@tidemark/checkpoint'
import { advanceStep, bootstrapStep, claimStep } from '@tidemark/checkpoint/memory'
import { readKeyspace, readMemoryValue, reservedPrefixOf, withDataPrefix } from '@tidemark/checkpoint/memory'
import { embeddedErrors } from '../errors.ts'
import type { EmbeddedStorage } from './embedded-storage.ts'

/** What an embedded projection store needs. */
export interface EmbeddedProjectionStoreOptions {
  /** The open directory; several namespaces may share one. */
  readonly storage: EmbeddedStorage
  readonly namespace: string
  /** Stands before every data key; the empty string unless said. */
  readonly dataPrefix?: string
}

/**
 * A projection store in files: data, checkpoints and side keys of a step are one frame, on disk whole or not at all.
 *
 * Promises: EMB-1, EMB-2, CKP-20 to CKP-24. Closing it leaves the storage open.
 */
export function createEmbeddedProjectionStore(
  options: EmbeddedProjectionStoreOptions,
): ProjectionStore<IdempotentWriter> {
  const { storage, dataPrefix = '' } = options
  const namespace = namespaceOf(options.namespace)
  const reservedPrefix = reservedPrefixOf(namespace, dataPrefix)
  const facts = storageFacts(storage)
  const nonce = (): string => randomBytes(16).toString('hex')
  let closed = false
  const requireOpen = (): void => {
    if (closed) throw embeddedErrors.create('TM_EMBEDDED_CLOSED', { what: `the projection store ${namespace}` })
  }
  return {
    name: `embedded ${storage.durability}`,
    namespace,
    dataPrefix,
    writesCommute: false,
    writeModel: 'idempotent',
    stepLimits: { writesMax: 10_000, bytesMax: 4 * 1024 * 1024 },
    newWrites: () => createWriteBuffer({ reservedPrefix }),
    async read(request) {
      requireOpen()
      await storage.settle()
      return readKeyspace(storage.data, namespace, request, facts, storage.process)
    },
    async claim(request) {
      requireOpen()
      return storage.step((data) => claimStep(data, namespace, request, nonce))
    },
    async bootstrap(request) {
      requireOpen()
      return storage.step((data) => bootstrapStep(data, namespace, request, nonce))
    },
    async advance(request) {
      requireOpen()
      const writes = withDataPrefix((request.writes as VocabularyBuffer).writes, dataPrefix)
      return storage.step((data) => advanceStep(data, namespace, request, writes, storage.process))
    },
    async close() {
      closed = true
    },
  }
}

/** Reads projected data of an open storage, under the same prefix the store writes it. */
export function createEmbeddedDataReader(options: {
  readonly storage: EmbeddedStorage
  readonly dataPrefix?: string
}): ProjectedDataReader {
  const { storage, dataPrefix = '' } = options
  return { readValues: async (keys) => keys.map((key) => readMemoryValue(storage.data, `${dataPrefix}${key}`)) }
}

function storageFacts(storage: EmbeddedStorage): StoreFacts {
  return {
    durability: storage.durability,
    isPrimary: true,
    isLoaded: true,
    eviction: { policy: 'none', kind: 'keeps-all' },
    expiringKeys: [],
    database: { expected: 'embedded', found: 'embedded' },
  }
}
