import { createCommutingMemoryProjectionStore, createMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import { createTransactionalMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import { describe, it } from 'vitest'
import { createMemoryStoreWorld, memoryCapabilities } from './memory-store-world.ts'

registerCases(projectionStoreCases, async () => createMemoryStoreWorld(createMemoryProjectionStore), {
  describe,
  it,
  subject: 'memory projection store',
  capabilities: memoryCapabilities,
})

registerCases(projectionStoreCases, async () => createMemoryStoreWorld(createCommutingMemoryProjectionStore), {
  describe,
  it,
  subject: 'commuting memory projection store',
  capabilities: { ...memoryCapabilities, 'full-vocabulary': false },
})

registerCases(
  projectionStoreCases,
  async () =>
    createMemoryStoreWorld((options) => createTransactionalMemoryProjectionStore({ ...options, isEmpty: () => true })),
  { describe, it, subject: 'transactional memory projection store', capabilities: memoryCapabilities },
)
