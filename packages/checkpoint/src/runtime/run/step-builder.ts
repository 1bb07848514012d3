import { nextOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { witnessOf } from '@tidemark/log'
import type { LogRecord, TailWitness } from '@tidemark/log'
import type { StepLimits } from '../../projection-store.ts'
import { quarantineEntryOf } from '../../quarantine-entry.ts'
import type { QuarantineEntry } from '../../quarantine-entry.ts'
import type { WriteBuffer } from '../../write-buffer.ts'
import type { LaneItem } from './partition-lane.ts'
import { isUndecodable, refusePromise } from '../undecodable.ts'
import type { Undecodable } from '../undecodable.ts'

/** One step, ready for the store. */
export interface BuiltStep<Writer> {
  readonly kind: 'step'
  readonly to: Offset
  readonly records: number
  readonly writes: WriteBuffer<Writer>
  readonly witness: TailWitness | undefined
  readonly quarantine: readonly QuarantineEntry[]
}

/** A step, nothing to do, or the record at which the projection must end. */
export type StepOutcome<Writer> =
  | BuiltStep<Writer>
  | { readonly kind: 'nothing' }
  | { readonly kind: 'undecodable'; readonly offset: Offset; readonly reason: string }
  | { readonly kind: 'threw'; readonly offset: Offset; readonly error: unknown }

/** What a step is built with. */
export interface StepSettings<Writer> {
  readonly project: (record: LogRecord, write: Writer) => Undecodable | void
  readonly undecodable: 'stop' | 'quarantine'
  readonly recordsMax: number
  readonly limits: StepLimits
  newWrites(): WriteBuffer<Writer>
}

/** A quarantine entry is at most this long when stored; it counts against the step's bytes. */
const quarantineEntryBytes = 2_048

/**
 * Builds the next step from proven items, cutting only between records.
 *
 * A record that alone exceeds the limits is a step of its own; the store splits it. A bad record ends the step before
 * it, so that everything earlier is kept, and ends the projection only once it comes first. Promises: CKP-33, CKP-34.
 */
export function buildStep<Writer>(items: Iterable<LaneItem>, settings: StepSettings<Writer>): StepOutcome<Writer> {
  const step = new StepUnderConstruction(settings)
  for (const item of items) {
    if (item.kind === 'end') {
      step.end = item.endOffset
      continue
    }
    for (const record of item.records) {
      const stop = step.take(record)
      if (stop === undefined) continue
      return step.isEmpty && stop !== 'full' ? stop : step.built()
    }
  }
  return step.built()
}

class StepUnderConstruction<Writer> {
  readonly settings: StepSettings<Writer>
  readonly writes: WriteBuffer<Writer>
  readonly quarantine: QuarantineEntry[] = []
  records = 0
  lastRecord: LogRecord | undefined
  /** The end that was reached after the last record. */
  end: Offset | undefined

  constructor(settings: StepSettings<Writer>) {
    this.settings = settings
    this.writes = settings.newWrites()
  }

  /** Takes one record, or says why the step ends before it. */
  take(record: LogRecord): 'full' | Extract<StepOutcome<Writer>, { kind: 'undecodable' | 'threw' }> | undefined {
    if (this.records >= this.settings.recordsMax) return 'full'
    const mark = this.writes.mark()
    let entry: QuarantineEntry | undefined
    try {
      const returned = this.settings.project(record, this.writes.writer)
      refusePromise(returned)
      if (isUndecodable(returned)) {
        this.writes.rewind(mark)
        if (this.settings.undecodable === 'stop') {
          return { kind: 'undecodable', offset: record.offset, reason: returned.reason }
        }
        entry = quarantineEntryOf(record, returned.reason)
        this.quarantine.push(entry)
      }
    } catch (error) {
      this.writes.rewind(mark)
      return { kind: 'threw', offset: record.offset, error }
    }
    if (this.records > 0 && this.exceedsLimits()) {
      this.writes.rewind(mark)
      if (entry !== undefined) this.quarantine.pop()
      return 'full'
    }
    this.records += 1
    this.lastRecord = record
    this.end = undefined
    return undefined
  }

  exceedsLimits(): boolean {
    const { writesMax, bytesMax } = this.settings.limits
    const writes = this.writes.writeCount + this.quarantine.length
    const bytes = this.writes.byteCount + this.quarantine.length * quarantineEntryBytes
    return writes > writesMax || bytes > bytesMax
  }

  get isEmpty(): boolean {
    return this.lastRecord === undefined && this.end === undefined
  }

  built(): StepOutcome<Writer> {
    const { records, writes, quarantine, lastRecord } = this
    const to = this.end ?? (lastRecord === undefined ? undefined : nextOffset(lastRecord.offset))
    if (to === undefined) return { kind: 'nothing' }
    return {
      kind: 'step',
      to,
      records,
      writes,
      quarantine,
      witness: lastRecord === undefined ? undefined : witnessOf(lastRecord),
    }
  }
}
