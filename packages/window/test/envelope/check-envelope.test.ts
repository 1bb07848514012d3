import { describe, expect, it } from 'vitest'
import { checkEnvelope, checkPlace } from '@tidemark/window'
import type { Envelope, EnvelopeLimits } from '@tidemark/window'

const limits: EnvelopeLimits = { domain: { minMs: -1_000_000, maxMs: 2_000_000 }, maxFutureSkewMs: 300 }
const good: Envelope<unknown> = {
  eventId: 'e1',
  eventTime: 1_000,
  ingestTime: 1_010,
  source: 'orders',
  partition: 2,
  partitionGeneration: 4,
  offset: 17,
  schemaGeneration: 0,
  key: '',
  payload: { amount: 1 },
}

function faultOf(change: Readonly<Record<string, unknown>>): string | undefined {
  return checkEnvelope({ ...good, ...change } as Envelope<unknown>, limits)
}

describe('what is quarantined on sight', () => {
  it('[WIN-20] a sound record is taken, whatever its payload', () => {
    expect(faultOf({})).toBeUndefined()
    for (const payload of [undefined, null, NaN, { eventTime: NaN }]) expect(faultOf({ payload })).toBeUndefined()
  })

  it('[WIN-20] an event time that is missing, no whole number or out of range, each with its reason', () => {
    const table: readonly (readonly [eventTime: unknown, fault: string])[] = [
      [undefined, 'MISSING_EVENT_TIME'],
      [null, 'MISSING_EVENT_TIME'],
      [NaN, 'NOT_AN_INTEGER'],
      [1.5, 'NOT_AN_INTEGER'],
      [Infinity, 'NOT_AN_INTEGER'],
      [-Infinity, 'NOT_AN_INTEGER'],
      ['5', 'NOT_AN_INTEGER'],
      ['', 'NOT_AN_INTEGER'],
      [1_000n, 'NOT_AN_INTEGER'],
      [true, 'NOT_AN_INTEGER'],
      [new Date(1_000), 'NOT_AN_INTEGER'],
      [Number('9007199254740993'), 'OUT_OF_RANGE'],
      [8.64e15 + 1, 'OUT_OF_RANGE'],
      [-8.64e15 - 1, 'OUT_OF_RANGE'],
      [2_000_001, 'OUT_OF_RANGE'],
      [-1_000_001, 'OUT_OF_RANGE'],
    ]
    for (const [eventTime, fault] of table) expect(faultOf({ eventTime }), String(eventTime)).toBe(fault)
  })

  it('[WIN-20] the first and the last time of the domain are taken', () => {
    expect(faultOf({ eventTime: -1_000_000 })).toBeUndefined()
    expect(faultOf({ eventTime: 2_000_000, ingestTime: 2_000_000 })).toBeUndefined()
    expect(faultOf({ eventTime: 2_000_001, ingestTime: 2_000_001 })).toBe('OUT_OF_RANGE')
    const wide = { domain: { minMs: -8.64e15, maxMs: 8.64e15 }, maxFutureSkewMs: 0 }
    for (const time of [-8.64e15, 8.64e15]) {
      expect(checkEnvelope({ ...good, eventTime: time, ingestTime: time }, wide)).toBeUndefined()
    }
    // A number beyond the exact ones may have been another before it was rounded, whatever the domain says.
    const beyond = { domain: { minMs: -Infinity, maxMs: Infinity }, maxFutureSkewMs: 8.64e15 }
    expect(checkEnvelope({ ...good, eventTime: 2 ** 53, ingestTime: 8.64e15 }, beyond)).toBe('OUT_OF_RANGE')
  })

  it('[WIN-20] as far ahead of its ingest time as allowed is taken, one further is not, behind never matters', () => {
    expect(faultOf({ eventTime: 1_310 })).toBeUndefined()
    expect(faultOf({ eventTime: 1_311 })).toBe('TOO_FAR_AHEAD')
    expect(faultOf({ eventTime: -900_000, ingestTime: 8.64e15 })).toBeUndefined()
  })

  it('[WIN-20] without an ingest time nothing can be said about the skew', () => {
    for (const ingestTime of [undefined, null, NaN, 1.5, '1010', 1_010n, 8.64e15 + 1, -8.64e15 - 1, Infinity]) {
      expect(faultOf({ ingestTime }), String(ingestTime)).toBe('INGEST_TIME_INVALID')
    }
    expect(faultOf({ ingestTime: 8.64e15 })).toBeUndefined()
    expect(faultOf({ ingestTime: -8.64e15 })).toBe('TOO_FAR_AHEAD')
  })

  it('[WIN-20] an id without a character, a key that is no text, a schema generation that is no count', () => {
    for (const eventId of ['', undefined, null, 7]) expect(faultOf({ eventId })).toBe('EVENT_ID_INVALID')
    for (const key of [undefined, null, 7, new Uint8Array(1)]) expect(faultOf({ key })).toBe('KEY_INVALID')
    for (const schemaGeneration of [-1, 0.5, '1', undefined, 2 ** 53]) {
      expect(faultOf({ schemaGeneration })).toBe('SCHEMA_GENERATION_INVALID')
    }
  })

  it('[WIN-20] of several faults the first is told: time, ingest time, skew, id, key, schema', () => {
    const all = { eventTime: null, ingestTime: null, eventId: '', key: 1, schemaGeneration: -1 }
    expect(faultOf(all)).toBe('MISSING_EVENT_TIME')
    expect(faultOf({ ...all, eventTime: 0.5 })).toBe('NOT_AN_INTEGER')
    expect(faultOf({ ...all, eventTime: 3_000_000 })).toBe('OUT_OF_RANGE')
    expect(faultOf({ ...all, eventTime: 5 })).toBe('INGEST_TIME_INVALID')
    expect(faultOf({ ...all, eventTime: 1_000, ingestTime: 0 })).toBe('TOO_FAR_AHEAD')
    expect(faultOf({ ...all, eventTime: 5, ingestTime: 5 })).toBe('EVENT_ID_INVALID')
    expect(faultOf({ key: 1, schemaGeneration: -1 })).toBe('KEY_INVALID')
  })
})

describe('where a record stands', () => {
  const place = { source: 'orders', partition: 2, generation: 4 }
  const refusal = (change: Readonly<Record<string, unknown>>): unknown => {
    try {
      checkPlace({ ...good, ...change } as Envelope<unknown>, place)
    } catch (thrown) {
      return thrown
    }
    return undefined
  }

  it('[WIN-21] a record at its place passes, at the first and at the last offset that can be counted', () => {
    for (const offset of [0, 17, Number.MAX_SAFE_INTEGER - 1]) expect(refusal({ offset })).toBeUndefined()
  })

  it('[WIN-21] one at another place is refused with the field and what it holds', () => {
    const table: readonly (readonly [field: string, value: unknown, found: string])[] = [
      ['source', 'payments', 'payments'],
      ['source', undefined, 'undefined'],
      ['partition', 3, '3'],
      ['partition', '2', '2'],
      ['partitionGeneration', 3, '3'],
      ['partitionGeneration', null, 'null'],
      ['offset', -1, '-1'],
      ['offset', 1.5, '1.5'],
      ['offset', NaN, 'NaN'],
      ['offset', 17n, '17'],
      ['offset', '17', '17'],
      ['offset', Number.MAX_SAFE_INTEGER, '9007199254740991'],
      ['offset', {}, 'object'],
    ]
    for (const [field, value, found] of table) {
      expect(refusal({ [field]: value }), `${field} ${found}`).toMatchObject({
        code: 'TM_WINDOW_ENVELOPE_MISPLACED',
        details: { ...place, field, found },
      })
    }
    expect(refusal({ partition: 3 })).toMatchObject({
      message: 'a record given for orders[2] generation 4 at offset 17 does not stand there: its partition is 3',
    })
  })

  it('[WIN-21] what is no record is refused too', () => {
    for (const [value, found] of [
      [null, 'null'],
      [undefined, 'undefined'],
      ['record', 'record'],
      [() => good, 'function'],
    ] as const) {
      expect(() => checkPlace(value as unknown as Envelope<unknown>, place)).toThrow(
        expect.objectContaining({ details: { ...place, offset: 'undefined', field: 'envelope', found } }),
      )
    }
  })
})
