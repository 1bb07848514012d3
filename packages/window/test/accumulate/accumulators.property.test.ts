import { canonicalJson, isTidemarkError } from '@tidemark/core'
import type { JsonValue } from '@tidemark/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Aggregate } from '../../src/accumulate/aggregate.ts'
import { createAppendOnlyDecimalMax, createAppendOnlyMin } from '../../src/accumulate/append-only-min-max.ts'
import { createAverage, createDecimalAverage } from '../../src/accumulate/average.ts'
import { guardAggregate } from '../../src/accumulate/check-aggregate.ts'
import { createCount } from '../../src/accumulate/count.ts'
import { createDecimalSum } from '../../src/accumulate/decimal-sum.ts'
import { createDistinctCount } from '../../src/accumulate/distinct-count.ts'
import { createDecimalMin, createMax, createMin } from '../../src/accumulate/min-max.ts'
import { createSum } from '../../src/accumulate/sum.ts'
import { runSize } from '../run-size.ts'

interface Payload {
  readonly whole: number
  readonly money: string
  readonly who: string | number
}

/** An aggregate whose accumulator is nobody's business here, and what it must tell of a list of payloads. */
interface Kind {
  readonly label: string
  readonly aggregate: Aggregate<Payload, unknown>
  /** Written from the definition, in whole numbers of any size; {@link overflow} where a number cannot tell it. */
  readonly naive: (payloads: readonly Payload[]) => JsonValue | undefined
}

const any = <A>(aggregate: Aggregate<Payload, A>): Aggregate<Payload, unknown> =>
  aggregate as Aggregate<Payload, unknown>
const declared = { name: 'it', version: 1 }
const whole = { ...declared, read: (payload: Payload) => payload.whole }
const money = { ...declared, read: (payload: Payload) => payload.money, scale: 2 }
const valuesMax = 1000

/** Cents of a text, by taking it apart where the point is. */
function cents({ money: text }: Payload): bigint {
  const [units = '', places = ''] = text.replace('-', '').split('.')
  const magnitude = BigInt(units) * 100n + BigInt(places.padEnd(2, '0'))
  return text.startsWith('-') ? -magnitude : magnitude
}
function moneyText(value: bigint): string {
  const magnitude = value < 0n ? -value : value
  return `${value < 0n ? '-' : ''}${magnitude / 100n}.${String(magnitude % 100n).padStart(2, '0')}`
}
const sumOf = (values: readonly bigint[]): bigint => values.reduce((total, value) => total + value, 0n)
const wholes = (payloads: readonly Payload[]) => payloads.map((payload) => BigInt(payload.whole))
const overflow = 'beyond the safe integers'
const safe = (value: bigint): JsonValue => (Number.isSafeInteger(Number(value)) ? Number(value) : overflow)
const sorted = (values: readonly bigint[]) => values.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))

/** The nearest multiple of a thousandth by trying both neighbours; of two as near, the even one. */
function thousandths(dividend: bigint, divisor: bigint): string {
  const scaled = dividend * 1000n
  let below = scaled / divisor
  while (below * divisor > scaled) below -= 1n
  const [toBelow, toAbove] = [scaled - below * divisor, (below + 1n) * divisor - scaled]
  const even = below % 2n === 0n ? below : below + 1n
  const near = toBelow < toAbove ? below : toBelow > toAbove ? below + 1n : even
  const magnitude = near < 0n ? -near : near
  return `${near < 0n ? '-' : ''}${magnitude / 1000n}.${String(magnitude % 1000n).padStart(3, '0')}`
}
function fraction(dividend: bigint, divisor: bigint): JsonValue {
  let [numerator, denominator] = [dividend, divisor]
  for (let factor = 2n; factor <= denominator; factor += 1n) {
    while (numerator % factor === 0n && denominator % factor === 0n) {
      numerator /= factor
      denominator /= factor
    }
  }
  return { numerator: String(numerator), denominator: String(denominator) }
}

/** A user's: the longest text and how often anything came, with an accumulator of arrays. */
const users: Aggregate<Payload, { texts: string[] }> = {
  name: 'texts',
  version: 3,
  create: () => ({ texts: [] }),
  add: (state, { who }) => {
    state.texts.push(String(who))
    return state
  },
  merge: (into, from) => ({ texts: [...into.texts, ...from.texts] }),
  retract: (state, { who }) => {
    state.texts.splice(state.texts.indexOf(String(who)), 1)
    return state
  },
  result: ({ texts }) => (texts.length === 0 ? undefined : { count: texts.length, first: texts.toSorted()[0]! }),
  encode: ({ texts }) => texts.toSorted(),
  decode: (encoded) => (Array.isArray(encoded) ? { texts: [...(encoded as string[])] } : undefined),
}
const userNaive: Kind['naive'] = (payloads) => {
  const texts = payloads.map(({ who }) => String(who)).toSorted()
  return texts.length === 0 ? undefined : { count: texts.length, first: texts[0]! }
}

const kinds: readonly Kind[] = [
  { label: 'count', aggregate: any(createCount<Payload>(declared)), naive: (payloads) => payloads.length },
  { label: 'sum', aggregate: any(createSum(whole)), naive: (payloads) => safe(sumOf(wholes(payloads))) },
  {
    label: 'decimal sum',
    aggregate: any(createDecimalSum(money)),
    naive: (payloads) => moneyText(sumOf(payloads.map(cents))),
  },
  {
    label: 'min',
    aggregate: any(createMin({ ...whole, valuesMax })),
    naive: (payloads) => (payloads.length === 0 ? undefined : Number(sorted(wholes(payloads))[0])),
  },
  {
    label: 'max',
    aggregate: any(createMax({ ...whole, valuesMax })),
    naive: (payloads) => (payloads.length === 0 ? undefined : Number(sorted(wholes(payloads)).at(-1))),
  },
  {
    label: 'decimal min',
    aggregate: any(createDecimalMin({ ...money, valuesMax })),
    naive: (payloads) => (payloads.length === 0 ? undefined : moneyText(sorted(payloads.map(cents))[0]!)),
  },
  {
    label: 'min of appends',
    aggregate: any(createAppendOnlyMin(whole)),
    naive: (payloads) => (payloads.length === 0 ? undefined : Number(sorted(wholes(payloads))[0])),
  },
  {
    label: 'decimal max of appends',
    aggregate: any(createAppendOnlyDecimalMax(money)),
    naive: (payloads) => (payloads.length === 0 ? undefined : moneyText(sorted(payloads.map(cents)).at(-1)!)),
  },
  {
    label: 'distinct count',
    aggregate: any(createDistinctCount({ ...declared, read: (payload: Payload) => payload.who, valuesMax })),
    naive: (payloads) => new Set(payloads.map(({ who }) => `${typeof who} ${who}`)).size,
  },
  {
    label: 'average as a fraction',
    aggregate: any(createAverage({ ...whole, form: { kind: 'fraction' } })),
    naive: (payloads) =>
      payloads.length === 0 ? undefined : fraction(sumOf(wholes(payloads)), BigInt(payloads.length)),
  },
  {
    label: 'average of decimals',
    aggregate: any(createDecimalAverage({ ...money, form: { kind: 'decimal', places: 3, rounding: 'HALF_EVEN' } })),
    naive: (payloads) =>
      payloads.length === 0 ? undefined : thousandths(sumOf(payloads.map(cents)), 100n * BigInt(payloads.length)),
  },
  { label: 'a user’s, on copies', aggregate: any(guardAggregate(users, { isolation: 'copy' })), naive: userNaive },
  { label: 'a user’s, in place', aggregate: any(guardAggregate(users, { isolation: 'none' })), naive: userNaive },
]

const anyWhole = fc.oneof(
  fc.integer({ min: -4, max: 4 }),
  fc.maxSafeInteger(),
  fc.constantFrom(Number.MAX_SAFE_INTEGER, Number.MIN_SAFE_INTEGER, 2 ** 52, -(2 ** 52), -0),
)
const anyMoney = fc.oneof(
  fc.constantFrom('0', '-0', '0.5', '-0.05', '12.30', '90071992547409.91', '90071992547409.92', '-90071992547409.93'),
  fc
    .tuple(fc.boolean(), fc.bigInt({ min: 0n, max: 10n ** 24n }), fc.integer({ min: 0, max: 2 }))
    .map(([minus, units, places]) => {
      const text = String(units).padStart(places + 1, '0')
      return `${minus ? '-' : ''}${places === 0 ? text : `${text.slice(0, -places)}.${text.slice(-places)}`}`
    }),
)
const anyWho = fc.oneof(
  fc.constantFrom('1', 1, 'a', 'b', '', '10', 10, 2, 'é', '😀', '\uFFFF'),
  fc.string({ maxLength: 3 }),
)
const anyPayload: fc.Arbitrary<Payload> = fc.record({ whole: anyWhole, money: anyMoney, who: anyWho })
const payloads = fc.array(anyPayload, { maxLength: 12 })

/** What one can see of an accumulator: its encoding, and its result or that it has none that can be told. */
function seen<A>(aggregate: Aggregate<Payload, A>, accumulator: A): string {
  return `${canonicalJson(aggregate.encode(accumulator))} ${told(aggregate, accumulator)}`
}
function told<A>(aggregate: Aggregate<Payload, A>, accumulator: A): string {
  try {
    const result = aggregate.result(accumulator)
    return result === undefined ? 'nothing' : canonicalJson(result)
  } catch (thrown) {
    if (isTidemarkError(thrown, 'TM_WINDOW_AGGREGATE_OVERFLOW')) return overflow
    throw thrown
  }
}
function expected(naive: Kind['naive'], list: readonly Payload[]): string {
  const result = naive(list)
  if (result === overflow) return overflow
  return result === undefined ? 'nothing' : canonicalJson(result)
}
const addAll = <A>(aggregate: Aggregate<Payload, A>, list: readonly Payload[]): A =>
  list.reduce((accumulator, payload) => aggregate.add(accumulator, payload), aggregate.create())
const copied = <A>(aggregate: Aggregate<Payload, A>, accumulator: A): A => {
  const copy = aggregate.decode(aggregate.encode(accumulator))
  expect(copy).toBeDefined()
  return copy as A
}

describe.each(kinds)('$label', ({ aggregate, naive }) => {
  it('[WIN-46] tells what the definition tells, whatever was added, taken back, merged and restored on the way', () => {
    const step = fc.oneof(
      { weight: 5, arbitrary: anyPayload.map((payload) => ({ kind: 'add' as const, payload })) },
      { weight: 3, arbitrary: fc.nat().map((nth) => ({ kind: 'retract' as const, nth })) },
      { weight: 1, arbitrary: payloads.map((list) => ({ kind: 'merge' as const, list })) },
      { weight: 1, arbitrary: fc.constant({ kind: 'restore' as const }) },
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
        let accumulator = aggregate.create()
        const held: Payload[] = []
        for (const each of steps) {
          if (each.kind === 'add') {
            accumulator = aggregate.add(accumulator, each.payload)
            held.push(each.payload)
          } else if (each.kind === 'merge') {
            accumulator = aggregate.merge(accumulator, addAll(aggregate, each.list))
            held.push(...each.list)
          } else if (each.kind === 'restore') {
            accumulator = copied(aggregate, accumulator)
          } else if (aggregate.retract !== undefined && held.length > 0) {
            const [payload] = held.splice(each.nth % held.length, 1)
            accumulator = aggregate.retract(accumulator, payload!)
          }
          expect(told(aggregate, accumulator)).toBe(expected(naive, held))
        }
        expect(seen(aggregate, accumulator)).toBe(seen(aggregate, addAll(aggregate, held)))
      }),
      runSize(60, 20_000),
    )
  })

  it('[WIN-46] merging is associative, does not mind the order, equals adding all and leaves what it merges from', () => {
    fc.assert(
      fc.property(payloads, payloads, payloads, (a, b, c) => {
        const [one, two, three] = [a, b, c].map((list) => () => addAll(aggregate, list)) as [
          () => unknown,
          () => unknown,
          () => unknown,
        ]
        const all = seen(aggregate, addAll(aggregate, [...a, ...b, ...c]))
        const right = aggregate.merge(two(), three())
        const from = seen(aggregate, right)
        expect(seen(aggregate, aggregate.merge(one(), right))).toBe(all)
        expect(seen(aggregate, right)).toBe(from)
        expect(seen(aggregate, aggregate.merge(aggregate.merge(one(), two()), three()))).toBe(all)
        expect(seen(aggregate, aggregate.merge(aggregate.merge(three(), one()), two()))).toBe(all)
        expect(seen(aggregate, aggregate.merge(aggregate.create(), one()))).toBe(seen(aggregate, one()))
      }),
      runSize(40, 10_000),
    )
  })

  it('[WIN-46] an encoding is canonical, is the same for the same events in any order, and is read back to it', () => {
    fc.assert(
      fc.property(payloads, (list) => {
        const accumulator = addAll(aggregate, list)
        const text = seen(aggregate, accumulator)
        expect(seen(aggregate, addAll(aggregate, list.toReversed()))).toBe(text)
        expect(seen(aggregate, copied(aggregate, accumulator))).toBe(text)
        expect(seen(aggregate, accumulator)).toBe(text)
      }),
      runSize(60, 20_000),
    )
  })
})

const retracting = kinds.filter(({ aggregate }) => aggregate.retract !== undefined)
describe.each(retracting)('$label, taking back', ({ aggregate }) => {
  it('[WIN-46] adding and taking back is nothing, in any order of the two with others', () => {
    const retract = aggregate.retract!
    fc.assert(
      fc.property(payloads, anyPayload, payloads, (before, payload, between) => {
        const without = seen(aggregate, addAll(aggregate, [...before, ...between]))
        const added = addAll(aggregate, [...before, payload, ...between])
        expect(seen(aggregate, retract(added, payload))).toBe(without)
      }),
      runSize(60, 20_000),
    )
  })
})

const summing = kinds.filter(({ aggregate }) => aggregate.difference !== undefined)
describe.each(summing)('$label, in differences', ({ aggregate, naive }) => {
  it('[WIN-47] where values add up, the differences on the way add up to the value', () => {
    const difference = aggregate.difference!
    fc.assert(
      fc.property(fc.array(payloads, { maxLength: 5 }), (lists) => {
        const values = lists.map((list) => naive(list)).filter((value) => value !== overflow && value !== undefined)
        const exact = (value: JsonValue): bigint =>
          typeof value === 'string' ? cents({ money: value } as Payload) : BigInt(value as number)
        let previous: JsonValue | undefined
        let total = 0n
        for (const current of values as readonly JsonValue[]) {
          const apart = exact(current) - (previous === undefined ? 0n : exact(previous))
          if (typeof current === 'number' && safe(apart) === overflow) {
            expect(() => difference(current, previous)).toThrow(
              expect.objectContaining({ code: 'TM_WINDOW_AGGREGATE_OVERFLOW' }),
            )
            return
          }
          total += exact(difference(current, previous))
          previous = current
          expect(total).toBe(exact(current))
        }
        if (previous !== undefined) expect(exact(difference(undefined, previous))).toBe(-total)
      }),
      runSize(40, 10_000),
    )
  })
})

it('[WIN-46, WIN-47] all but the extremes of appends take back, and only what adds up has differences', () => {
  const labels = (list: readonly Kind[]) => list.map(({ label }) => label)
  expect(labels(kinds.filter((kind) => !retracting.includes(kind)))).toEqual([
    'min of appends',
    'decimal max of appends',
  ])
  expect(labels(summing)).toEqual(['count', 'sum', 'decimal sum', 'distinct count'])
})
