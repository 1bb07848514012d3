// Reading order: files (frames, atomic replacement, lock) -> store (keyspace on disk, projection store) -> log.
export { createEmbeddedStorage } from './store/embedded-storage.ts'
export type { EmbeddedStorage, EmbeddedStorageOptions } from './store/embedded-storage.ts'
export { createEmbeddedDataReader, createEmbeddedProjectionStore } from './store/embedded-projection-store.ts'
export type { EmbeddedProjectionStoreOptions } from './store/embedded-projection-store.ts'
export type { EmbeddedDurability } from './files/framed-file.ts'
export { embeddedErrors } from './errors.ts'
