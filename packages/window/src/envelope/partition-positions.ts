import { invariant } from '@tidemark/core'
import { windowErrors } from '../errors.ts'
import { isOffset } from './check-place.ts'
import { envelopeWitness } from './envelope-witness.ts'
import type { Envelope } from './envelope.ts'
import type { InputPartition } from './input-partition.ts'
import { readPositionsState } from './positions-state.ts'
import type { PositionsState } from './positions-state.ts'

/** What a record's offset says about it. */
export type PositionVerdict =
  /** The one that was waited for. */
  | 'NEXT'
  /** One beyond it: the offsets between hold no record. */
  | 'HOLE'
  /** The last record again, the same by its witness. */
  | 'REPLAY'
  /** An older record again; whether it is the same is not known from here. */
  | 'REPLAY_UNVERIFIED'
  /** Another record than the one that stood there, or a record where none stood. The intake stops. */
  | 'SOURCE_OFFSET_CONFLICT'

/** What became of news that a partition holds nothing up to an offset. */
export type HoleVerdict =
  | { readonly kind: 'passed'; readonly from: number; readonly to: number }
  /** The partition stands there already, or further on. */
  | { readonly kind: 'nothing' }

/** From what positions set out. */
export type PositionsStart =
  /** The first offset of every partition, by index. */
  | { readonly kind: 'at'; readonly offsets: readonly number[] }
  | { readonly kind: 'restore'; readonly state: PositionsState }

/** What positions are made of. */
export interface PositionsOptions<P> {
  readonly partitions: readonly InputPartition[]
  /** Tells payloads apart; must not throw, whatever a record brought. Asked at a cut and at a replay of the last record. */
  readonly payloadDigest: (payload: P) => string
  readonly start: PositionsStart
}

/**
 * Which offsets of every partition were covered: records taken and proven holes, none twice and none left out.
 *
 * Judging changes nothing; a record is judged, decided upon, and then taken. Promises: WIN-22, WIN-23.
 */
export interface PartitionPositions<P> {
  /** Cost: one comparison for the record that was waited for; a hash only for the last record again. */
  judge(index: number, envelope: Envelope<P>): PositionVerdict
  /** Counts a record that was judged `NEXT` or `HOLE`, and the hole before it. Allocates nothing. */
  take(index: number, envelope: Envelope<P>): void
  /**
   * Counts the offsets below `to` as a hole: the log was read to there and brought nothing.
   *
   * @throws {TidemarkError} TM_WINDOW_OPTION_INVALID
   */
  passHole(index: number, to: number): HoleVerdict
  nextOffset(index: number): number
  /** Where the counting began. */
  firstOffset(index: number): number
  /** How many records were taken since the first offset, and how many offsets were holes; together they cover all up to the next. */
  recordsTaken(index: number): number
  holeOffsets(index: number): number
  /** Cost: one hash for every partition that brought a record since the last call. */
  state(): PositionsState
}

/**
 * Positions at their start.
 *
 * @throws {TidemarkError} TM_WINDOW_OPTION_INVALID, TM_WINDOW_STATE_INVALID
 */
export function createPartitionPositions<P>(options: PositionsOptions<P>): PartitionPositions<P> {
  return new Positions(options, startOf(options))
}

class Positions<P> implements PartitionPositions<P> {
  readonly #partitions: readonly InputPartition[]
  readonly #payloadDigest: (payload: P) => string
  readonly #first: Float64Array
  readonly #next: Float64Array
  readonly #last: Float64Array
  readonly #taken: Float64Array
  readonly #holes: Float64Array
  /** The last record itself until a witness of it is asked for; a hash for every record would cost more than the rest. */
  readonly #records: (Envelope<P> | undefined)[]
  readonly #witnesses: (string | undefined)[]

  constructor(options: PositionsOptions<P>, state: PositionsState) {
    this.#partitions = options.partitions
    this.#payloadDigest = options.payloadDigest
    this.#first = Float64Array.from(state.partitions, ({ firstOffset }) => firstOffset)
    this.#next = Float64Array.from(state.partitions, ({ nextOffset }) => nextOffset)
    this.#last = Float64Array.from(state.partitions, ({ firstOffset, last }) => last?.offset ?? firstOffset - 1)
    this.#taken = Float64Array.from(state.partitions, ({ recordsTaken }) => recordsTaken)
    this.#holes = Float64Array.from(state.partitions, ({ holeOffsets }) => holeOffsets)
    this.#records = state.partitions.map(() => undefined)
    this.#witnesses = state.partitions.map(({ last }) => last?.witness)
  }

  judge(index: number, envelope: Envelope<P>): PositionVerdict {
    const { offset } = envelope
    const next = this.#next[index]!
    if (offset === next) return 'NEXT'
    if (offset > next) return 'HOLE'
    const last = this.#last[index]!
    // Beyond the last record everything up to the next offset was proven to be empty.
    if (offset > last) return 'SOURCE_OFFSET_CONFLICT'
    if (offset < last || offset < this.#first[index]!) return 'REPLAY_UNVERIFIED'
    return this.#witness(index) === envelopeWitness(envelope, this.#payloadDigest) ? 'REPLAY' : 'SOURCE_OFFSET_CONFLICT'
  }

  take(index: number, envelope: Envelope<P>): void {
    const { offset } = envelope
    invariant(offset >= this.#next[index]!, 'WIN-23', 'a replay is not taken')
    this.#holes[index]! += offset - this.#next[index]!
    this.#taken[index]! += 1
    this.#last[index] = offset
    this.#next[index] = offset + 1
    this.#records[index] = envelope
  }

  passHole(index: number, to: number): HoleVerdict {
    const from = this.#next[index]!
    if (!Number.isSafeInteger(to) || to < 0) {
      throw windowErrors.create('TM_WINDOW_OPTION_INVALID', { option: 'to', reason: `${to} is not an offset` })
    }
    if (to <= from) return { kind: 'nothing' }
    this.#holes[index]! += to - from
    this.#next[index] = to
    return { kind: 'passed', from, to }
  }

  nextOffset(index: number): number {
    return this.#next[index]!
  }

  firstOffset(index: number): number {
    return this.#first[index]!
  }

  recordsTaken(index: number): number {
    return this.#taken[index]!
  }

  holeOffsets(index: number): number {
    return this.#holes[index]!
  }

  state(): PositionsState {
    const partitions = this.#partitions.map(({ source, partition, generation }, index) => {
      const witness = this.#witness(index)
      return {
        source,
        partition,
        generation,
        firstOffset: this.#first[index]!,
        nextOffset: this.#next[index]!,
        recordsTaken: this.#taken[index]!,
        holeOffsets: this.#holes[index]!,
        last: witness === undefined ? null : { offset: this.#last[index]!, witness },
      }
    })
    return { partitions }
  }

  #witness(index: number): string | undefined {
    const record = this.#records[index]
    if (record !== undefined) {
      this.#witnesses[index] = envelopeWitness(record, this.#payloadDigest)
      this.#records[index] = undefined
    }
    return this.#witnesses[index]
  }
}

function startOf<P>({ partitions, start }: PositionsOptions<P>): PositionsState {
  if (start.kind === 'restore') {
    const read = readPositionsState(start.state, partitions)
    if (read.kind === 'state') return read.state
    throw windowErrors.create('TM_WINDOW_STATE_INVALID', { part: 'positions', problems: read.problems })
  }
  const refuse = (reason: string): Error =>
    windowErrors.create('TM_WINDOW_OPTION_INVALID', { option: 'start.offsets', reason })
  if (start.offsets.length !== partitions.length) {
    throw refuse(`there are ${start.offsets.length} for ${partitions.length} partitions`)
  }
  return {
    partitions: partitions.map(({ source, partition, generation }, index) => {
      const offset = start.offsets[index]!
      if (!isOffset(offset)) throw refuse(`${String(offset)} at ${index} is not an offset the engine can count with`)
      return {
        source,
        partition,
        generation,
        firstOffset: offset,
        nextOffset: offset,
        recordsTaken: 0,
        holeOffsets: 0,
        last: null,
      }
    }),
  }
}
