import { offsetOf } from '@tidemark/core'
import { witnessOf } from '@tidemark/log'
import type { LogRecord } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import type { IdempotentWriter } from '../../src/index.ts'
import { createWriteBuffer, undecodable } from '../../src/index.ts'
import type { VocabularyBuffer } from '../../src/index.ts'
import { buildStep } from '../../src/runtime/run/step-builder.ts'
import type { BuiltStep, StepOutcome, StepSettings } from '../../src/runtime/run/step-builder.ts'

const at = (value: number) => offsetOf(value)

function record(offset: number, text: string = 'ok'): LogRecord {
  const value = new TextEncoder().encode(text)
  return { partition: 0, offset: at(offset), leaderEpoch: 0, timestampMs: 7, key: null, value, headers: [] }
}

function settings(changed: Partial<StepSettings<IdempotentWriter>> = {}): StepSettings<IdempotentWriter> {
  return {
    project(record, write) {
      const text = new TextDecoder().decode(record.value!)
      for (let n = 0; n < Number(text.match(/^x(\d+)/)?.[1] ?? 1); n += 1) write.sadd(`k${n}`, `${record.offset}`)
      if (text === 'throw') throw new Error('a fault')
      return text === 'bad' ? undecodable('bad text') : undefined
    },
    undecodable: 'quarantine',
    recordsMax: 10,
    limits: { writesMax: 5, bytesMax: 100_000 },
    newWrites: () => createWriteBuffer({ reservedPrefix: 'ns:' }),
    ...changed,
  }
}

const records = (...all: readonly LogRecord[]) => [{ kind: 'records' as const, fetch: 1, records: all }]

function step(outcome: StepOutcome<IdempotentWriter>): BuiltStep<IdempotentWriter> {
  if (outcome.kind !== 'step') throw new Error(`${outcome.kind} where a step is due`)
  return outcome
}

const written = (built: BuiltStep<IdempotentWriter>): number => (built.writes as VocabularyBuffer).writes.length

describe('building a step', () => {
  it('[CKP-33] ends after the last record, with the witness of it', () => {
    const built = step(buildStep(records(record(3), record(9)), settings()))
    expect(built).toMatchObject({ to: 10n, records: 2, quarantine: [], witness: witnessOf(record(9)) })
  })

  it('[CKP-33] passes over a gap to the reported end, keeping the witness out when nothing was applied', () => {
    const end = { kind: 'end' as const, fetch: 1, endOffset: at(20) }
    expect(step(buildStep([...records(record(3)), end], settings()))).toMatchObject({ to: 20n, records: 1 })
    expect(step(buildStep([end], settings()))).toMatchObject({ to: 20n, records: 0, witness: undefined })
    expect(buildStep([], settings())).toEqual({ kind: 'nothing' })
  })

  it('[CKP-33] cuts between records at the limits of records, writes and bytes', () => {
    const many = records(record(0, 'x2'), record(1, 'x2'), record(2, 'x2'))
    const byWrites = step(buildStep(many, settings()))
    expect([byWrites.to, written(byWrites)]).toEqual([2n, 4])
    expect(step(buildStep(many, settings({ recordsMax: 1 }))).to).toBe(1n)
    expect(step(buildStep(many, settings({ limits: { writesMax: 100, bytesMax: 200 } }))).to).toBe(2n)
  })

  it('[CKP-33] a record beyond the limits is a step of its own, whole', () => {
    const built = step(buildStep(records(record(0, 'x9'), record(1)), settings()))
    expect([built.to, written(built)]).toEqual([1n, 9])
  })

  it('[CKP-34] quarantine drops what the record wrote and keeps its place; entries count against the limits', () => {
    const built = step(buildStep(records(record(0), record(1, 'bad'), record(2)), settings()))
    expect([built.to, written(built), built.quarantine.map((entry) => entry.offset)]).toEqual([3n, 2, [1n]])
    const flood = records(...Array.from({ length: 8 }, (_, n) => record(n, 'bad')))
    expect(step(buildStep(flood, settings())).quarantine).toHaveLength(5)
  })

  it('[CKP-34] a bad record ends the step before it, and the projection only once it comes first', () => {
    const stop = settings({ undecodable: 'stop' })
    expect(step(buildStep(records(record(0), record(1, 'bad')), stop)).to).toBe(1n)
    expect(buildStep(records(record(1, 'bad')), stop)).toEqual({ kind: 'undecodable', offset: 1n, reason: 'bad text' })
    expect(buildStep(records(record(1, 'throw')), settings())).toMatchObject({ kind: 'threw', offset: 1n })
    expect(step(buildStep(records(record(0), record(1, 'throw')), settings())).to).toBe(1n)
    const end = { kind: 'end' as const, fetch: 1, endOffset: at(4) }
    expect(step(buildStep([end, ...records(record(4, 'bad'))], stop))).toMatchObject({ to: 4n, records: 0 })
  })
})
