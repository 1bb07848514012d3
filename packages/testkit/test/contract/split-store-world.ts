import { createSplitProjectionStore, checkpointKey, metaKey, namespaceOf } from '@tidemark/checkpoint'
import type { CommutingWriter, ProjectionStore } from '@tidemark/checkpoint'
import {
  createMemoryDataReader,
  createMemoryProjectionStore,
  createMemoryServer,
  sideKeys,
} from '@tidemark/checkpoint/memory'
import type { MemoryServer } from '@tidemark/checkpoint/memory'
import type { ProjectionStoreWorld, StoreCapability, StoreDamage, StoreSides } from '@tidemark/testkit/contract'
import { createSeededChooser } from '@tidemark/testkit/sim'
import { textOf } from './memory-store-world.ts'

type Store = ProjectionStore<CommutingWriter>

/** How the two stores become one; planted bugs put something else here. */
export type JoinStores = (data: Store, checkpoints: Store) => Store

/**
 * Where damage goes that could strike either server. A position is always damaged on both: on one alone it is no damage but
 * a side that stands apart.
 */
export type DamagedSides = 'both' | 'checkpoints'

/** What a store on two servers lets its test do. */
export function splitCapabilities(damaged: DamagedSides): Readonly<Record<StoreCapability, boolean>> {
  return {
    damage: true,
    fingerprint: true,
    restart: true,
    'empty-restart': true,
    'full-vocabulary': true,
    // Twins and data come first: a step that loses only against the checkpoints has left something there.
    'fenced-writes': damaged === 'both',
    'fenced-meta': damaged === 'both',
    rollback: false,
    expiry: true,
    'quarantine-reading': true,
    'whole-bootstrap': false,
    'shared-keys': true,
    'one-process': false,
    'data-apart': true,
  }
}

const namespace = namespaceOf('contract:ns')
const dataNamespace = namespaceOf('contract:ns:twin')
const dataPrefix = 'data:'

/** A world over two memory servers, one for the data and one for the checkpoints. */
export function createSplitStoreWorld(
  damaged: DamagedSides,
  join: JoinStores = (data, checkpoints) => createSplitProjectionStore({ data, checkpoints }),
): ProjectionStoreWorld {
  const chooser = createSeededChooser(11)
  const nonce = (): string => chooser.hex(32)
  const [checkpoints, data] = [createMemoryServer({ nonce }), createMemoryServer({ nonce })]
  return {
    openStore: async () =>
      join(
        createMemoryProjectionStore({ namespace: dataNamespace, server: data, nonce, dataPrefix }),
        createMemoryProjectionStore({ namespace, server: checkpoints, nonce }),
      ),
    readData: (keys) => createMemoryDataReader(data, dataPrefix).readValues(keys),
    damage: damageOf(checkpoints, data, damaged),
    sides: sidesOf(checkpoints, data),
    fingerprint: async () => `${textOf(checkpoints)}\n${textOf(data)}`,
    async restart(options) {
      checkpoints.restart(options)
      data.restart(options)
    },
    async expireCheckpoint(topic, partition) {
      const key = checkpointKey(namespace, topic, partition)
      checkpoints.declare({ expiringKeys: [key] })
      return key
    },
    async readQuarantine(topic, partition) {
      const value = data.snapshot().get(sideKeys(dataNamespace, topic).quarantine(partition))
      return value?.kind === 'hash' ? [...value.fields.values()] : []
    },
    close: async () => undefined,
  }
}

function putOrRemove(server: MemoryServer, key: string, text: string | undefined): void {
  server.put(key, text === undefined ? { kind: 'absent' } : { kind: 'string', value: text })
}

/** Damage where each thing lives: witnesses and values beside the data, everything else as said. */
function damageOf(checkpoints: MemoryServer, data: MemoryServer, damaged: DamagedSides): StoreDamage {
  const own = [checkpoints, namespace] as const
  const twin = [data, dataNamespace] as const
  const struck = damaged === 'both' ? [own, twin] : [own]
  return {
    async setMetaField(field, text) {
      for (const [server, each] of struck) server.setField(metaKey(each), field, text)
    },
    async removeMeta() {
      for (const [server, each] of struck) server.put(metaKey(each), { kind: 'absent' })
    },
    async setCheckpointField(topic, partition, field, text) {
      for (const [server, each] of [own, twin]) server.setField(checkpointKey(each, topic, partition), field, text)
    },
    async removeCheckpoint(topic, partition) {
      for (const [server, each] of [own, twin]) server.put(checkpointKey(each, topic, partition), { kind: 'absent' })
    },
    async setFence(topic, partition, text) {
      for (const [server, each] of struck) putOrRemove(server, sideKeys(each, topic).fence(partition), text)
    },
    setWitness: async (topic, partition, text) =>
      putOrRemove(data, sideKeys(dataNamespace, topic).witness(partition), text),
    async putWrongKind(target) {
      return struck.map(([server, each]) => {
        const key = target === 'meta' ? metaKey(each) : checkpointKey(each, target.topic, target.partition)
        server.put(key, { kind: 'string', value: 'not a hash' })
        return key
      })
    },
    putString: async (key, text) => putOrRemove(data, `${dataPrefix}${key}`, text),
  }
}

function sidesOf(checkpoints: MemoryServer, data: MemoryServer): StoreSides {
  return {
    setDataPosition: async (topic, partition, text) =>
      data.setField(checkpointKey(dataNamespace, topic, partition), 'next_offset', text),
    setDataFence: async (topic, partition, text) =>
      putOrRemove(data, sideKeys(dataNamespace, topic).fence(partition), text),
    restart: async (side, options) => (side === 'data' ? data : checkpoints).restart(options),
  }
}
