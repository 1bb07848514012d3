// Reading order: memory-data, apply-write (the model of the vocabulary) -> side-keys, data-prefix, read-keyspace, keyspace-steps (what
// a store decides over a keyspace) -> memory-server, memory-projection-store.
export { copyMemoryValue, createMemoryData, readMemoryValue } from './memory/memory-data.ts'
export type { MemoryData, MemoryValue } from './memory/memory-data.ts'
export { applyWrite, applyWrites } from './memory/apply-write.ts'
export type { UndoWrite } from './memory/apply-write.ts'
export { sideKeys } from './memory/side-keys.ts'
export type { SideKeys } from './memory/side-keys.ts'
export { readKeyspace } from './memory/read-keyspace.ts'
export { advanceStep, bootstrapStep, claimStep } from './memory/keyspace-steps.ts'
export type { KeyspaceStep } from './memory/keyspace-steps.ts'
export { createMemoryServer } from './memory/memory-server.ts'
export type { MemoryServer, MemoryServerOptions } from './memory/memory-server.ts'
export { reservedPrefixOf, withDataPrefix } from './memory/data-prefix.ts'
export {
  createCommutingMemoryProjectionStore,
  createMemoryDataReader,
  createMemoryProjectionStore,
  createTransactionalMemoryProjectionStore,
} from './memory/memory-projection-store.ts'
export type {
  MemoryProjectionStoreOptions,
  TransactionalMemoryProjectionStoreOptions,
} from './memory/memory-projection-store.ts'
