// Reading order: lock-owner (who may take over), here-and-now, exclusive-lock -> open-pglite (the database).
export { openPglite } from './open-pglite.ts'
export type { OpenPgliteOptions, PgliteDatabase } from './open-pglite.ts'
export type {
  PostgresConnection,
  PostgresDatabase,
  PostgresResult,
  PostgresStatement,
  PostgresValue,
} from '../database/postgres-database.ts'
