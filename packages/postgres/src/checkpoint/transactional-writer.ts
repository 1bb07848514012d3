import { checkpointErrors, createWriteBuffer } from '@tidemark/checkpoint'
import type { IdempotentWriter, ProjectionWrite, VocabularyBuffer, WriteBuffer, WriteMark } from '@tidemark/checkpoint'
import { isWellFormed, utf8Length } from '@tidemark/core'
import type { PostgresValue } from '../database/postgres-database.ts'
import { postgresErrors } from '../errors.ts'

/** A parameter of a host's statement. */
export type SqlValue = PostgresValue

/**
 * The common vocabulary and any statement, all in the transaction that moves the checkpoint.
 *
 * A step is applied once or not at all, so a statement may add, subtract and count.
 */
export interface TransactionalWriter extends IdempotentWriter {
  /**
   * Runs one INSERT, UPDATE, DELETE, MERGE, SELECT, WITH or CALL after everything written before it.
   *
   * Shape: values stand as `$1`, `$2`, ...; never put them into the text. A bigint travels as its digits, a Uint8Array as
   * bytea; pass arrays and JSON as text with a cast.
   * @throws {TidemarkError} TM_CHECKPOINT_WRITE_INVALID on another statement or a value Postgres cannot hold.
   */
  sql(text: string, values?: readonly SqlValue[]): void
}

/** One statement of the host. */
export interface HostStatement {
  readonly text: string
  readonly values: readonly SqlValue[]
}

/** The parts of a step in order: runs of vocabulary writes, and statements between them. */
export type StepSegment =
  | { readonly kind: 'writes'; readonly writes: readonly ProjectionWrite[] }
  | { readonly kind: 'statement'; readonly statement: HostStatement }

/** Makes buffers and reads back what they collected; buffers of anybody else are refused. */
export interface StepBuffers {
  create(): WriteBuffer<TransactionalWriter>
  /** @throws {TidemarkError} TM_POSTGRES_BUFFER_FOREIGN */
  segmentsOf(buffer: WriteBuffer<TransactionalWriter>): readonly StepSegment[]
}

/** The longest text of a statement and the longest value, in bytes. */
const TEXT_BYTES_MAX = 65_536
const VALUES_MAX = 1_000
const perStatementOverheadBytes = 64

/** Buffers of a store. */
export function stepBuffers(store: string, reservedPrefix: string): StepBuffers {
  const collected = new WeakMap<object, TransactionalBuffer>()
  return {
    create() {
      const buffer = new TransactionalBuffer(reservedPrefix)
      collected.set(buffer, buffer)
      return buffer
    },
    segmentsOf(buffer) {
      const own = collected.get(buffer)
      if (own === undefined) throw postgresErrors.create('TM_POSTGRES_BUFFER_FOREIGN', { store })
      return own.segments()
    },
  }
}

interface PlacedStatement {
  readonly statement: HostStatement
  /** How many vocabulary writes stood before it. */
  readonly after: number
  readonly bytes: number
}

class TransactionalBuffer implements WriteBuffer<TransactionalWriter> {
  readonly writer: TransactionalWriter
  readonly #vocabulary: VocabularyBuffer
  readonly #statements: PlacedStatement[] = []
  #statementBytes = 0

  constructor(reservedPrefix: string) {
    this.#vocabulary = createWriteBuffer({ reservedPrefix })
    this.writer = { ...this.#vocabulary.writer, sql: (text, values = []) => this.#collect(text, values) }
  }

  get writeCount(): number {
    return this.#vocabulary.writeCount + this.#statements.length
  }

  get byteCount(): number {
    return this.#vocabulary.byteCount + this.#statementBytes
  }

  mark(): WriteMark {
    return { writeCount: this.writeCount, byteCount: this.byteCount }
  }

  rewind(mark: WriteMark): void {
    // The n-th statement stands behind the writes before it and the n statements before it.
    while (this.#statements.length > 0) {
      const last = this.#statements.at(-1)!
      if (last.after + this.#statements.length <= mark.writeCount) break
      this.#statements.pop()
      this.#statementBytes -= last.bytes
    }
    const writeCount = mark.writeCount - this.#statements.length
    this.#vocabulary.rewind({ writeCount, byteCount: mark.byteCount - this.#statementBytes })
  }

  segments(): readonly StepSegment[] {
    const segments: StepSegment[] = []
    const { writes } = this.#vocabulary
    let from = 0
    const addWrites = (to: number): void => {
      if (to > from) segments.push({ kind: 'writes', writes: writes.slice(from, to) })
      from = to
    }
    for (const { statement, after } of this.#statements) {
      addWrites(after)
      segments.push({ kind: 'statement', statement })
    }
    addWrites(writes.length)
    return segments
  }

  #collect(text: string, values: readonly SqlValue[]): void {
    const bytes = statementBytes(text, values)
    // A copy, so that a host that reuses its array does not change what was said.
    const statement = { text, values: [...values] }
    this.#statements.push({ statement, after: this.#vocabulary.writeCount, bytes })
    this.#statementBytes += bytes
  }
}

/** Statements that neither end the transaction nor change the session. */
const allowedWords = new Set(['insert', 'update', 'delete', 'merge', 'select', 'with', 'call'])

function statementBytes(text: string, values: readonly SqlValue[]): number {
  const word = firstWord(text)
  if (!allowedWords.has(word)) throw invalid(text, `a statement may not start with "${word.slice(0, 32)}"`)
  if (!Array.isArray(values)) throw invalid(text, 'the values are not an array')
  if (values.length > VALUES_MAX) throw invalid(text, `${values.length} values are more than ${VALUES_MAX}`)
  let bytes = perStatementOverheadBytes + textBytes(text, text, 'the statement')
  values.forEach((value, index) => (bytes += valueBytes(text, value, `value $${index + 1}`)))
  return bytes
}

function valueBytes(text: string, value: SqlValue, what: string): number {
  switch (typeof value) {
    case 'string':
      return textBytes(text, value, what)
    case 'number':
      // Postgres would take the words for these, a column of whole numbers would not; neither is meant.
      if (!Number.isFinite(value)) throw invalid(text, `${what} is ${value}`)
      return 24
    case 'bigint':
      return value.toString(10).length
    case 'boolean':
      return 1
    default:
      if (value === null) return 1
      if (!(value instanceof Uint8Array))
        throw invalid(text, `${what} is a ${typeof value}; pass arrays and JSON as text`)
      if (value.byteLength > TEXT_BYTES_MAX) throw invalid(text, `${what} has more than ${TEXT_BYTES_MAX} bytes`)
      return value.byteLength
  }
}

function textBytes(statement: string, text: string, what: string): number {
  if (typeof text !== 'string') throw invalid(String(statement), `${what} is a ${typeof text}`)
  if (!isWellFormed(text)) throw invalid(statement, `${what} holds a lone surrogate`)
  if (text.includes('\u0000')) throw invalid(statement, `${what} holds U+0000, which Postgres cannot store`)
  const bytes = utf8Length(text)
  if (bytes > TEXT_BYTES_MAX) throw invalid(statement, `${what} has ${bytes} bytes, more than ${TEXT_BYTES_MAX}`)
  return bytes
}

/** The first word behind blanks, comments and opening parentheses, in lower case. */
function firstWord(text: string): string {
  if (typeof text !== 'string') return `a ${typeof text}`
  const rest = text.replace(/^(?:[\s(]+|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)+/, '')
  return /^[A-Za-z]+/.exec(rest)?.[0].toLowerCase() ?? rest.slice(0, 8)
}

function invalid(text: string, reason: string): Error {
  // The text is the host's own constant; its values are data and are never shown.
  return checkpointErrors.create('TM_CHECKPOINT_WRITE_INVALID', { op: 'sql', key: String(text).slice(0, 128), reason })
}
