// Reading order: pg-address (URLs) -> pg-database (connections of our own, or of the host's pool).
export { connectPostgres, fromPgPool } from './pg-database.ts'
export type { ConnectPostgresOptions, FromPgPoolOptions } from './pg-database.ts'
export type {
  PostgresConnection,
  PostgresDatabase,
  PostgresResult,
  PostgresStatement,
  PostgresValue,
} from '../database/postgres-database.ts'
