import type { JsonValue } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import type { Aggregate } from '../../src/accumulate/aggregate.ts'
import { createAppendOnlyDecimalMin, createAppendOnlyMax } from '../../src/accumulate/append-only-min-max.ts'
import { createAverage, createDecimalAverage } from '../../src/accumulate/average.ts'
import type { AverageForm } from '../../src/accumulate/average.ts'
import { createCount } from '../../src/accumulate/count.ts'
import { createDecimalSum } from '../../src/accumulate/decimal-sum.ts'
import { createDistinctCount } from '../../src/accumulate/distinct-count.ts'
import type { DistinctValue } from '../../src/accumulate/distinct-count.ts'
import { createDecimalMax, createMin } from '../../src/accumulate/min-max.ts'
import { createSum } from '../../src/accumulate/sum.ts'

const it1 = { name: 'it', version: 1 }
/** Reads whatever the test gives as payload, right or wrong. */
const as = <V>() => ({ ...it1, read: (payload: unknown) => payload as V })
const money = { ...as<string>(), scale: 2 }
const boundless = { valuesMax: 1000 }
const fraction: AverageForm = { kind: 'fraction' }

const code = (name: string, details: object = {}) =>
  expect.objectContaining({
    code: name,
    details: expect.objectContaining({ aggregate: 'it@1', ...details }),
  })
const filled = <A>(aggregate: Aggregate<unknown, A>, ...payloads: readonly unknown[]): A =>
  payloads.reduce((accumulator: A, payload) => aggregate.add(accumulator, payload), aggregate.create())
const resultOf = <A>(aggregate: Aggregate<unknown, A>, ...payloads: readonly unknown[]): JsonValue | undefined =>
  aggregate.result(filled(aggregate, ...payloads))
const any = <A>(aggregate: Aggregate<unknown, A>) => aggregate as Aggregate<unknown, unknown>

const sum = any(createSum(as<number>()))
const decimalSum = any(createDecimalSum(money))
const min = any(createMin({ ...as<number>(), ...boundless }))
const decimalMax = any(createDecimalMax({ ...money, ...boundless }))
const average = any(createAverage({ ...as<number>(), form: fraction }))
const decimalAverage = any(createDecimalAverage({ ...money, form: fraction }))
const distinct = any(createDistinctCount({ ...as<DistinctValue>(), ...boundless }))
const appendMax = any(createAppendOnlyMax(as<number>()))
const appendMin = any(createAppendOnlyDecimalMin(money))
const count = any(createCount<unknown>(it1))

describe('results', () => {
  it('[WIN-46] of no events: nought where values add up, else nothing', () => {
    expect([count, sum, decimalSum, distinct].map((each) => resultOf(each))).toEqual([0, 0, '0.00', 0])
    const none = [min, decimalMax, average, decimalAverage, appendMax, appendMin]
    expect(none.map((each) => resultOf(each))).toEqual(none.map(() => undefined))
  })

  it('[WIN-46] of a few events', () => {
    expect(resultOf(count, 'a', 'a')).toBe(2)
    expect(resultOf(sum, 5, -7, -0)).toBe(-2)
    expect(resultOf(decimalSum, '0.10', '0.20', '-0.05')).toBe('0.25')
    expect(resultOf(min, 3, -1, 2)).toBe(-1)
    expect(resultOf(decimalMax, '3', '-1.5', '2.99')).toBe('3.00')
    expect(resultOf(appendMax, 3, -1, 3)).toBe(3)
    expect(resultOf(appendMin, '3', '-1.5')).toBe('-1.50')
    expect(resultOf(distinct, 'a', 1, '1', 'a', -0, 0)).toBe(4)
    expect(resultOf(average, 1, 2, 3, 1)).toEqual({ numerator: '7', denominator: '4' })
    expect(resultOf(decimalAverage, '0.10', '0.20')).toEqual({ numerator: '3', denominator: '20' })
  })

  it('[WIN-48] of no values there is no sum to read back', () => {
    expect([average.decode([5, 0]), decimalAverage.decode(['0.01', 0])]).toEqual([undefined, undefined])
    expect(average.result(average.decode([0, 0])!)).toBeUndefined()
  })

  it('[WIN-48] an average as decimal text has its places and its rounding', () => {
    const of = (places: number, rounding: 'HALF_EVEN' | 'HALF_UP') =>
      any(createAverage({ ...as<number>(), form: { kind: 'decimal', places, rounding } }))
    expect(resultOf(of(0, 'HALF_EVEN'), 2, 3)).toBe('2')
    expect(resultOf(of(0, 'HALF_UP'), 2, 3)).toBe('3')
    expect(resultOf(of(0, 'HALF_UP'), -2, -3)).toBe('-3')
    expect(resultOf(of(3, 'HALF_UP'), 1, 1, 0)).toBe('0.667')
    const cents = any(createDecimalAverage({ ...money, form: { kind: 'decimal', places: 2, rounding: 'HALF_EVEN' } }))
    expect(resultOf(cents, '0.01', '0.02')).toBe('0.02')
    expect(resultOf(cents, '0.02', '0.03')).toBe('0.02')
  })

  it('[WIN-47] a sum beyond the safe integers is refused when it is told, and exact all the while', () => {
    const accumulator = filled(sum, Number.MAX_SAFE_INTEGER, 1)
    expect(() => sum.result(accumulator)).toThrow(code('TM_WINDOW_AGGREGATE_OVERFLOW', { operation: 'result' }))
    expect(sum.encode(accumulator)).toBe('9007199254740992')
    expect(sum.result(sum.retract!(accumulator, 1))).toBe(Number.MAX_SAFE_INTEGER)
    expect(resultOf(decimalSum, '90071992547409.91', '0.01')).toBe('90071992547409.92')
    expect(resultOf(decimalSum, '99999999999999999999.99', '0.01')).toBe('100000000000000000000.00')
  })

  it('[WIN-47] differences, where nothing stands for no value', () => {
    expect([sum.difference!(7, 5), sum.difference!(7, undefined), sum.difference!(undefined, 7)]).toEqual([2, 7, -7])
    expect(sum.difference!(undefined, undefined)).toBe(0)
    expect(decimalSum.difference!('1.00', '1.25')).toBe('-0.25')
    expect(() => sum.difference!(Number.MAX_SAFE_INTEGER, -1)).toThrow(
      code('TM_WINDOW_AGGREGATE_OVERFLOW', { operation: 'difference' }),
    )
    expect(() => decimalSum.difference!('1.00', '1.5')).toThrow(
      code('TM_WINDOW_AGGREGATE_VALUE_INVALID', { operation: 'difference', path: '$.previous' }),
    )
    expect(() => count.difference!('x', 1)).toThrow(
      code('TM_WINDOW_AGGREGATE_VALUE_INVALID', { operation: 'difference', path: '$.current' }),
    )
  })
})

const wrongIntegers = [
  undefined,
  null,
  Number.NaN,
  1.5,
  Number.POSITIVE_INFINITY,
  2 ** 53,
  '5',
  5n,
  new Date(0),
  [],
  {},
  true,
  Symbol('s'),
  () => 1,
]
const wrongDecimals = [
  undefined,
  null,
  5,
  5n,
  '1.234',
  '5,0',
  '',
  'NaN',
  new Date(0),
  Object.create(null),
  new String('1.00'),
]
const wrongValues = [undefined, null, Number.NaN, 0.1, 2 ** 53, 'a\uD800', 5n, new Date(0), ['a'], false]
const faulty: readonly (readonly [string, Aggregate<unknown, unknown>, readonly unknown[], readonly unknown[]])[] = [
  ['sum', sum, [1, 2], wrongIntegers],
  ['min', min, [1, 2], wrongIntegers],
  ['append max', appendMax, [1, 2], wrongIntegers],
  ['average', average, [1, 2], wrongIntegers],
  ['decimal sum', decimalSum, ['1', '2'], wrongDecimals],
  ['decimal max', decimalMax, ['1', '2'], wrongDecimals],
  ['append decimal min', appendMin, ['1', '2'], wrongDecimals],
  ['decimal average', decimalAverage, ['1', '2'], wrongDecimals],
  ['distinct count', distinct, ['a', 2], wrongValues],
]

describe.each(faulty)('%s, given something else', (_, aggregate, right, wrong) => {
  it('[WIN-46] refuses it by name, operation and path, in add and in retract, and is as it was', () => {
    for (const payload of wrong) {
      const accumulator = filled(aggregate, ...right)
      const before = aggregate.encode(accumulator)
      expect(() => aggregate.add(accumulator, payload), String(typeof payload)).toThrow(
        code('TM_WINDOW_AGGREGATE_VALUE_INVALID', { operation: 'add', path: '$' }),
      )
      expect(aggregate.encode(accumulator)).toEqual(before)
      if (aggregate.retract === undefined) continue
      expect(() => aggregate.retract!(accumulator, payload)).toThrow(
        code('TM_WINDOW_AGGREGATE_VALUE_INVALID', { operation: 'retract', path: '$' }),
      )
      expect(aggregate.encode(accumulator)).toEqual(before)
    }
  })

  it('[WIN-46] reads back only what it writes', () => {
    const strange = [
      undefined,
      null,
      -1,
      1.5,
      -0,
      'x',
      '01',
      '1',
      '1.0',
      '1.5',
      '9007199254740991',
      [],
      {},
      [1],
      [1, 1, 1],
      true,
    ]
    const pairs = [
      [[1, 0]],
      [[1, -1]],
      [[1, 1.5]],
      [[1]],
      [
        [2, 1],
        [1, 1],
      ],
      [
        [1, 1],
        [1, 1],
      ],
      [['1.0', 1]],
      [
        ['b', 1],
        ['a', 1],
      ],
      [
        ['a', 1],
        [1, 1],
      ],
      ['a'],
      [0, 1],
      ['0.00', 1],
      [5, 0],
      ['5.00', 0],
      [5, -1],
      ['5.00', 1.5],
      [5, '1'],
    ]
    for (const stored of [...strange, ...pairs] as readonly JsonValue[]) {
      const accumulator = aggregate.decode(stored)
      // What is taken is what would be written, so two encodings never mean one accumulator.
      if (accumulator !== undefined) expect(aggregate.encode(accumulator)).toEqual(stored)
    }
    const written = aggregate.encode(filled(aggregate, ...right))
    expect(aggregate.encode(aggregate.decode(written))).toEqual(written)
    expect(aggregate.decode({ some: 'object' })).toBeUndefined()
  })
})

describe('faults of the caller’s functions', () => {
  it.each([
    ['sum', (read: () => never) => any(createSum({ ...it1, read }))],
    ['decimal sum', (read: () => never) => any(createDecimalSum({ ...it1, read, scale: 2 }))],
    ['distinct count', (read: () => never) => any(createDistinctCount({ ...it1, read, ...boundless }))],
    ['min', (read: () => never) => any(createMin({ ...it1, read, ...boundless }))],
  ])('[WIN-46] a read that throws is told with its cause: %s', (_, create) => {
    const cause = new TypeError('no such field')
    const aggregate = create(() => {
      throw cause
    })
    const accumulator = aggregate.create()
    for (const operation of ['add', 'retract'] as const) {
      let thrown: unknown
      try {
        aggregate[operation]!(accumulator, {})
      } catch (error) {
        thrown = error
      }
      expect(thrown).toEqual(code('TM_WINDOW_AGGREGATE_THREW', { operation, reason: 'no such field' }))
      expect((thrown as Error).cause).toBe(cause)
    }
  })

  it('[WIN-46] an error tells text only where it looks like a number', () => {
    const messageOf = (payload: unknown): string => {
      try {
        decimalSum.add(decimalSum.create(), payload)
      } catch (error) {
        return (error as Error).message
      }
      return ''
    }
    expect(messageOf('1.234')).toContain('"1.234"')
    expect(messageOf('hunter2 is secret')).toContain('a string of 17 characters')
    expect(messageOf('hunter2 is secret')).not.toContain('hunter2')
    expect(messageOf(new Date(0))).toContain('an object (Date)')
  })
})

describe('taking back what is not there', () => {
  const unmatched = code('TM_WINDOW_AGGREGATE_RETRACT_UNMATCHED', { operation: 'retract' })

  it('[WIN-49] is refused, and the accumulator is as it was', () => {
    const cases: readonly (readonly [Aggregate<unknown, unknown>, readonly unknown[], unknown])[] = [
      [count, [], 'x'],
      [min, [1, 2], 3],
      [min, [], 1],
      [decimalMax, ['1.00'], '1.01'],
      [distinct, ['1'], 1],
      [average, [], 1],
      [average, [5], 4],
      [decimalAverage, ['0.10'], '0.11'],
    ]
    for (const [aggregate, held, payload] of cases) {
      const accumulator = filled(aggregate, ...held)
      const before = aggregate.encode(accumulator)
      expect(() => aggregate.retract!(accumulator, payload)).toThrow(unmatched)
      expect(aggregate.encode(accumulator)).toEqual(before)
    }
  })

  it('[WIN-49] a value held twice is held once more after one of them went', () => {
    const accumulator = filled(min, 1, 1, 2)
    expect(min.result(min.retract!(accumulator, 1))).toBe(1)
    expect(min.result(min.retract!(accumulator, 1))).toBe(2)
    expect(min.result(min.retract!(accumulator, 2))).toBeUndefined()
    expect(min.encode(accumulator)).toEqual([])
    expect(distinct.result(distinct.retract!(filled(distinct, 'a', 'a', 'b'), 'a'))).toBe(2)
  })

  it('[WIN-49] a value held no times is nothing that was written', () => {
    expect([min.decode([[1, 0]]), distinct.decode([['a', 0]])]).toEqual([undefined, undefined])
    expect(min.result(min.decode([[1, 1]])!)).toBe(1)
  })

  it('[WIN-49] coming and going of values leaves nothing behind', () => {
    const aggregate = createMin({ ...as<number>(), ...boundless })
    const accumulator = filled(aggregate, 0)
    for (let round = 1; round <= 10_000; round += 1) {
      aggregate.add(accumulator, round % 50)
      aggregate.retract!(accumulator, round % 50)
    }
    expect(aggregate.result(accumulator)).toBe(0)
    expect(accumulator.counts.size).toBe(1)
    expect(accumulator.heap.length).toBeLessThanOrEqual(2 * 2 + 16)
  })
})

describe('a bound on values', () => {
  it.each([
    ['min', any(createMin({ ...as<number>(), valuesMax: 2 }))],
    ['distinct count', any(createDistinctCount({ ...as<number>(), valuesMax: 2 }))],
  ])('[WIN-49] is kept in add, merge and decode, and nothing is evicted: %s', (_, aggregate) => {
    const accumulator = filled(aggregate, 1, 2)
    const before = aggregate.encode(accumulator)
    expect(() => aggregate.add(accumulator, 3)).toThrow(
      code('TM_WINDOW_AGGREGATE_FULL', { operation: 'add', valuesMax: 2 }),
    )
    expect(() => aggregate.merge(accumulator, filled(aggregate, 2, 3))).toThrow(
      code('TM_WINDOW_AGGREGATE_FULL', { operation: 'merge', valuesMax: 2 }),
    )
    expect(aggregate.encode(accumulator)).toEqual(before)
    expect(aggregate.encode(aggregate.add(accumulator, 2))).toEqual([
      [1, 1],
      [2, 2],
    ])
    expect(aggregate.encode(aggregate.merge(accumulator, filled(aggregate, 1, 2)))).toEqual([
      [1, 2],
      [2, 3],
    ])
    const three = [
      [1, 1],
      [2, 1],
      [3, 1],
    ]
    expect(aggregate.decode(three)).toBeUndefined()
    expect(aggregate.decode(three.slice(1))).toBeDefined()
  })
})

describe('declarations', () => {
  const declaration = (field: string) =>
    expect.objectContaining({
      code: 'TM_WINDOW_AGGREGATE_DECLARATION_INVALID',
      details: expect.objectContaining({ field }),
    })

  it.each([
    ['name', () => createCount({ name: '', version: 1 })],
    ['name', () => createCount({ name: 'a\uDC00', version: 1 })],
    ['name', () => createCount({ name: 5 as unknown as string, version: 1 })],
    ['version', () => createCount({ name: 'a', version: 0 })],
    ['version', () => createSum({ ...as<number>(), version: 1.5 })],
    ['scale', () => createDecimalSum({ ...money, scale: -1 })],
    ['scale', () => createDecimalSum({ ...money, scale: 101 })],
    ['scale', () => createDecimalMax({ ...money, ...boundless, scale: Number.NaN })],
    ['valuesMax', () => createMin({ ...as<number>(), valuesMax: 0 })],
    ['valuesMax', () => createDistinctCount({ ...as<number>(), valuesMax: 16_000_001 })],
    ['form', () => createAverage({ ...as<number>(), form: { kind: 'percent' } as unknown as AverageForm })],
    [
      'form.places',
      () => createAverage({ ...as<number>(), form: { kind: 'decimal', places: -1, rounding: 'HALF_UP' } }),
    ],
    [
      'form.rounding',
      () => createAverage({ ...as<number>(), form: { kind: 'decimal', places: 1, rounding: 'UP' as 'HALF_UP' } }),
    ],
  ])('[WIN-46] a %s that cannot be is refused', (field, create) => {
    expect(create).toThrow(declaration(field))
  })

  it('[WIN-46] the widest ones are taken', () => {
    expect(createDecimalSum({ ...money, scale: 100 }).version).toBe(1)
    expect(createDecimalSum({ ...money, scale: 0 }).name).toBe('it')
    expect(resultOf(any(createDistinctCount({ ...as<number>(), valuesMax: 16_000_000 })), 1)).toBe(1)
  })
})
