import { namespaceOf, newestEntries, topicNameOf } from '@tidemark/checkpoint'
import type { StoreInspector } from '@tidemark/checkpoint'
import { sideKeys } from '@tidemark/checkpoint/memory'
import { checkLimit } from '@tidemark/core'
import type { EmbeddedStorage } from './embedded-storage.ts'

const keysPerPage = 1_000

/** Looks into a namespace of an open storage, or of a view of one. Promises: EMB-19. */
export function createEmbeddedStoreInspector(options: {
  readonly storage: EmbeddedStorage
  readonly namespace: string
}): StoreInspector {
  const { storage } = options
  const namespace = namespaceOf(options.namespace)
  return {
    async readQuarantine({ topic, partition, entriesMax }) {
      const value = storage.data.values.get(sideKeys(namespace, topicNameOf(topic)).quarantine(partition))
      const entries = newestEntries(checkLimit('entriesMax', entriesMax, { min: 0, max: 100_000 }))
      if (value?.kind !== 'hash') return { total: 0, newest: [] }
      for (const [offset, text] of value.fields) entries.add(offset, text)
      return { total: value.fields.size, newest: entries.newest() }
    },
    async *scanKeys(signal) {
      let page: string[] = []
      for (const key of storage.data.values.keys()) {
        if (!key.startsWith(`${namespace}:`)) continue
        page.push(key)
        if (page.length < keysPerPage) continue
        yield page
        page = []
        if (signal?.aborted === true) return
      }
      if (page.length > 0) yield page
    },
    async close() {
      // The storage belongs to whoever opened it.
    },
  }
}
