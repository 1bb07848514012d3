import type { Durability } from '@tidemark/checkpoint'

/** A parameter of a statement. Arrays and JSON are passed as their text with a cast in the statement. */
export type PostgresValue = string | number | bigint | boolean | null | Uint8Array

/** One statement; `name` lets the server keep its plan, so one name stands for one text. */
export interface PostgresStatement {
  readonly text: string
  readonly values: readonly PostgresValue[]
  readonly name?: string
}

/** What a statement came to. */
export interface PostgresResult {
  /** The first word of the server's command tag, for example `COMMIT`. */
  readonly command: string
  readonly rows: readonly Readonly<Record<string, unknown>>[]
  /** How many rows it returned or changed. */
  readonly rowCount: number
}

/** One connection, held until it is released. */
export interface PostgresConnection {
  /** Runs one statement by the extended protocol, which refuses several in one text. */
  query(statement: PostgresStatement): Promise<PostgresResult>
  /** Runs statements without parameters in one round trip. */
  script(text: string): Promise<readonly PostgresResult[]>
  /** Gives it back for reuse; only in the state it came in. */
  release(): void
  /** Ends it; nothing of it is used again. Safe after anything. */
  destroy(): void
}

/**
 * PORT: where connections come from. `@tidemark/postgres/pg` makes one of a server, `@tidemark/postgres/pglite` of an
 * embedded database.
 */
export interface PostgresDatabase {
  /** For messages: where it is, without credentials. */
  readonly address: string
  /** The database the connections must be on; another one is never written to. */
  readonly expectedDatabase: string
  /** Which run of an embedded database this is; absent where the server tells. */
  readonly instance: string | undefined
  /** What a confirmed step survives, where the server's own settings do not tell. */
  readonly durability: Durability | undefined
  /** The longest that a call of a store may take. */
  readonly deadlineMs: number
  /** Whether every connection carries statement and lock time-outs already; else each transaction sets them. */
  readonly hasSessionTimeouts: boolean
  acquire(): Promise<PostgresConnection>
  /** Ends all connections. May be called again. */
  close(): Promise<void>
}
