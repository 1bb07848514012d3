// Reading order: ensure-tables -> postgres-projection-store (the store), transactional-writer (what it offers to write) ->
// postgres-data-reader (reading back). A database comes from `@tidemark/postgres/pg` or `@tidemark/postgres/pglite`.
export { ensurePostgresTables } from './ensure-tables.ts'
export type { SchemaNames } from './table-layout.ts'
export { createPostgresProjectionStore, POSTGRES_STEP_LIMITS } from './postgres-projection-store.ts'
export type {
  CallerTransaction,
  PostgresProjectionStore,
  PostgresProjectionStoreOptions,
} from './postgres-projection-store.ts'
export type { EmptyQuestion } from './create-checkpoints.ts'
export type { SqlValue, TransactionalWriter } from './transactional-writer.ts'
export { createPostgresDataReader } from './postgres-data-reader.ts'
export type { PostgresDataReader, PostgresDataReaderOptions } from './postgres-data-reader.ts'
export { createPostgresStoreInspector } from './postgres-store-inspector.ts'
export type { PostgresStoreInspectorOptions } from './postgres-store-inspector.ts'
export type {
  PostgresConnection,
  PostgresDatabase,
  PostgresResult,
  PostgresStatement,
  PostgresValue,
} from '../database/postgres-database.ts'
export { postgresErrors } from '../errors.ts'
