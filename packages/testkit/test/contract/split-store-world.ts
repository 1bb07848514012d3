import { createSplitProjectionStore, checkpointKey, metaKey, namespaceOf } from '@tidemark/checkpoint'
import type { CommutingWriter, ProjectionStore } from '@tidemark/checkpoint'
import {
  createMemoryDataReader,
  createMemoryProjectionStore,
  createMemoryServer,
  sideKeys,
} from '@tidemark/checkpoint/memory'
import type { MemoryServer } from '@tidemark/checkpoint/memory'
import type { ProjectionStoreWorld, StoreDamage } from '@tidemark/testkit/contract'
import { createSeededChooser } from '@tidemark/testkit/sim'

const namespace = namespaceOf('contract:ns')
const dataNamespace = namespaceOf('contract:ns:twin')
const dataPrefix = 'data:'

/** A world over two memory servers, one for the data and one for the checkpoints. */
export function createSplitStoreWorld(): ProjectionStoreWorld {
  const chooser = createSeededChooser(11)
  const nonce = (): string => chooser.hex(32)
  const [checkpoints, data] = [createMemoryServer({ nonce }), createMemoryServer({ nonce })]
  const openStore = (): ProjectionStore<CommutingWriter> =>
    createSplitProjectionStore({
      data: createMemoryProjectionStore({ namespace: dataNamespace, server: data, nonce, dataPrefix }),
      checkpoints: createMemoryProjectionStore({ namespace, server: checkpoints, nonce }),
    })
  return {
    openStore: async () => openStore(),
    readData: (keys) => createMemoryDataReader(data, dataPrefix).readValues(keys),
    damage: damageOf(checkpoints, data),
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

/** Damage where each thing lives: positions on both sides alike, fences beside the checkpoints, witnesses and values beside the data. */
function damageOf(checkpoints: MemoryServer, data: MemoryServer): StoreDamage {
  const putOrRemove = (server: MemoryServer, key: string, text: string | undefined): void =>
    server.put(key, text === undefined ? { kind: 'absent' } : { kind: 'string', value: text })
  return {
    setMetaField: async (field, text) => checkpoints.setField(metaKey(namespace), field, text),
    removeMeta: async () => checkpoints.put(metaKey(namespace), { kind: 'absent' }),
    async setCheckpointField(topic, partition, field, text) {
      checkpoints.setField(checkpointKey(namespace, topic, partition), field, text)
      data.setField(checkpointKey(dataNamespace, topic, partition), field, text)
    },
    async removeCheckpoint(topic, partition) {
      checkpoints.put(checkpointKey(namespace, topic, partition), { kind: 'absent' })
      data.put(checkpointKey(dataNamespace, topic, partition), { kind: 'absent' })
    },
    setFence: async (topic, partition, text) =>
      putOrRemove(checkpoints, sideKeys(namespace, topic).fence(partition), text),
    setWitness: async (topic, partition, text) =>
      putOrRemove(data, sideKeys(dataNamespace, topic).witness(partition), text),
    async putWrongKind(target) {
      const key = target === 'meta' ? metaKey(namespace) : checkpointKey(namespace, target.topic, target.partition)
      checkpoints.put(key, { kind: 'string', value: 'not a hash' })
      return key
    },
    putString: async (key, text) => putOrRemove(data, `${dataPrefix}${key}`, text),
  }
}
