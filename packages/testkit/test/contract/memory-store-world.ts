import type { CommutingWriter, ProjectedValue, ProjectionStore } from '@tidemark/checkpoint'
import { checkpointKey, metaKey, namespaceOf } from '@tidemark/checkpoint'
import { createMemoryDataReader, createMemoryServer, sideKeys } from '@tidemark/checkpoint/memory'
import type { MemoryProjectionStoreOptions, MemoryServer } from '@tidemark/checkpoint/memory'
import type { ProjectionStoreWorld, StoreCapability, StoreDamage } from '@tidemark/testkit/contract'
import { createSeededChooser } from '@tidemark/testkit/sim'

/** Everything a memory store lets its test do. */
export const memoryCapabilities: Readonly<Record<StoreCapability, boolean>> = {
  damage: true,
  fingerprint: true,
  restart: true,
  'empty-restart': true,
  'full-vocabulary': true,
  'fenced-writes': true,
  rollback: true,
  expiry: true,
  'quarantine-reading': true,
  'whole-bootstrap': true,
  'fenced-meta': true,
  'shared-keys': true,
  'one-process': true,
  'data-apart': false,
}

const namespace = namespaceOf('contract:ns')

/** A world over one memory server; `openStore` decides which store, so that planted bugs can wrap it. */
export function createMemoryStoreWorld(
  openStore: (options: MemoryProjectionStoreOptions) => ProjectionStore<CommutingWriter>,
): ProjectionStoreWorld {
  const chooser = createSeededChooser(7)
  const nonce = (): string => chooser.hex(32)
  const server = createMemoryServer({ nonce })
  const dataPrefix = 'data:'
  return {
    openStore: async () => openStore({ namespace, server, nonce, dataPrefix }),
    readData: (keys) => createMemoryDataReader(server, dataPrefix).readValues(keys),
    damage: damageOf(server, dataPrefix),
    fingerprint: async () => textOf(server),
    restart: async (options) => server.restart(options),
    async expireCheckpoint(topic, partition) {
      const key = checkpointKey(namespace, topic, partition)
      server.declare({ expiringKeys: [key] })
      return key
    },
    async readQuarantine(topic, partition) {
      const value = server.snapshot().get(sideKeys(namespace, topic).quarantine(partition))
      return value?.kind === 'hash' ? [...value.fields.values()] : []
    },
    close: async () => undefined,
  }
}

function damageOf(server: MemoryServer, dataPrefix: string): StoreDamage {
  const putOrRemove = (key: string, text: string | undefined): void =>
    server.put(key, text === undefined ? { kind: 'absent' } : { kind: 'string', value: text })
  return {
    setMetaField: async (field, text) => server.setField(metaKey(namespace), field, text),
    removeMeta: async () => server.put(metaKey(namespace), { kind: 'absent' }),
    setCheckpointField: async (topic, partition, field, text) =>
      server.setField(checkpointKey(namespace, topic, partition), field, text),
    removeCheckpoint: async (topic, partition) =>
      server.put(checkpointKey(namespace, topic, partition), { kind: 'absent' }),
    setFence: async (topic, partition, text) => putOrRemove(sideKeys(namespace, topic).fence(partition), text),
    setWitness: async (topic, partition, text) => putOrRemove(sideKeys(namespace, topic).witness(partition), text),
    async putWrongKind(target) {
      const key = target === 'meta' ? metaKey(namespace) : checkpointKey(namespace, target.topic, target.partition)
      server.put(key, { kind: 'string', value: 'not a hash' })
      return key
    },
    putString: async (key, text) => putOrRemove(`${dataPrefix}${key}`, text),
  }
}

/** Everything a server holds, as one text. */
export function textOf(server: MemoryServer): string {
  return JSON.stringify([...server.snapshot()].map(([key, value]) => [key, plain(value)]))
}

function plain(value: ProjectedValue): unknown {
  switch (value.kind) {
    case 'hash':
      return [value.kind, sorted(value.fields)]
    case 'set':
      return [value.kind, [...value.members].sort()]
    case 'sorted-set':
      return [value.kind, sorted(value.scores)]
    default:
      return value
  }
}

function sorted<T>(map: ReadonlyMap<string, T>): readonly (readonly [string, T])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1))
}
