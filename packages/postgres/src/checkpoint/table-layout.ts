import { postgresErrors } from '../errors.ts'

/** Where the tables of a store are. */
export interface SchemaNames {
  /** The schema of checkpoints and side tables; `tidemark` unless said. */
  readonly schema?: string
  /**
   * The schema of the projected data and the position it carries; the same unless said. Name the schema of the host's own
   * tables here, so that a restore of that schema takes the position along.
   */
  readonly dataSchema?: string
}

/** The qualified names of the tables, ready to stand in a statement. */
export interface TableLayout {
  readonly schema: string
  readonly dataSchema: string
  readonly version: string
  readonly dataVersion: string
  /** Format 1: the identity record of a namespace. */
  readonly meta: string
  /** Format 1: one row per partition. */
  readonly checkpoint: string
  /** Fence and tail witness per partition. */
  readonly fence: string
  /** The nonce that goes away with the checkpoints. */
  readonly incarnation: string
  readonly quarantine: string
  /** The common vocabulary's data. */
  readonly data: string
  /** The position that the data carries, per partition. */
  readonly twin: string
}

/**
 * The tables of a store. Names are checked, never quoted from input: everything else is a parameter. Promises: PGS-1.
 *
 * @throws {TidemarkError} TM_POSTGRES_OPTION_INVALID
 */
export function tableLayout(names: SchemaNames): TableLayout {
  const schema = schemaName('schema', names.schema ?? 'tidemark')
  const dataSchema = schemaName('dataSchema', names.dataSchema ?? names.schema ?? 'tidemark')
  return {
    schema,
    dataSchema,
    version: `${schema}.tidemark_version`,
    dataVersion: `${dataSchema}.tidemark_data_version`,
    meta: `${schema}.tidemark_meta`,
    checkpoint: `${schema}.tidemark_checkpoint`,
    fence: `${schema}.tidemark_fence`,
    incarnation: `${schema}.tidemark_incarnation`,
    quarantine: `${schema}.tidemark_quarantine`,
    data: `${dataSchema}.tidemark_data`,
    twin: `${dataSchema}.tidemark_twin`,
  }
}

function schemaName(option: string, text: string): string {
  if (/^[a-z_][a-z0-9_]{0,62}$/.test(text) && !text.startsWith('pg_') && text !== 'information_schema')
    return `"${text}"`
  const reason = `"${text.slice(0, 64)}" is not 1 to 63 lower-case letters, digits and underscores, or belongs to the server`
  throw postgresErrors.create('TM_POSTGRES_OPTION_INVALID', { option, reason })
}
