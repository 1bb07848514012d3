import type { JsonValue } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import type { Aggregate } from '../../src/accumulate/aggregate.ts'
import { guardAggregate } from '../../src/accumulate/check-aggregate.ts'
import type { AggregateIsolation } from '../../src/accumulate/check-aggregate.ts'
import { createSum } from '../../src/accumulate/sum.ts'

interface Bag {
  items: unknown[]
}
type Parts = Aggregate<unknown, Bag>

/** Keeps what it is given; one part at a time is replaced by a faulty one. */
const bag: Parts = {
  name: 'bag',
  version: 2,
  create: () => ({ items: [] }),
  add: (state, payload) => {
    state.items.push(payload)
    return state
  },
  merge: (into, from) => {
    into.items.push(...from.items)
    return into
  },
  retract: (state) => {
    state.items.pop()
    return state
  },
  result: ({ items }) => ({ items: items as JsonValue[] }),
  difference: (current, previous) => [current ?? null, previous ?? null],
  encode: ({ items }) => items as JsonValue[],
  decode: (encoded) => (Array.isArray(encoded) ? { items: encoded as unknown[] } : undefined),
}
const both: readonly AggregateIsolation[] = ['copy', 'none']
const guarded = (parts: Partial<Parts>, isolation: AggregateIsolation) =>
  guardAggregate({ ...bag, ...parts }, { isolation })
const fault = (code: string, operation: string, more: object = {}) =>
  expect.objectContaining({
    code,
    details: expect.objectContaining({ aggregate: 'bag@2', operation, ...more }),
  })
const value = (operation: string, path: string) => fault('TM_WINDOW_AGGREGATE_VALUE_INVALID', operation, { path })
/** Faulty only from the second call on: the first ones belong to the check of the declaration. */
const later = <T extends readonly unknown[], R>(fine: (...args: T) => R, faulty: (...args: T) => R, after = 8) => {
  let calls = 0
  return (...args: T): R => ((calls += 1) <= after ? fine : faulty)(...args)
}

describe.each(both)('a guarded aggregate, isolation %s', (isolation) => {
  it('[WIN-50] does what the aggregate does', () => {
    const aggregate = guarded({}, isolation)
    expect([aggregate.name, aggregate.version]).toEqual(['bag', 2])
    const one = aggregate.add(aggregate.add(aggregate.create(), 'a'), 'b')
    const two = aggregate.merge(one, aggregate.add(aggregate.create(), 'c'))
    expect(aggregate.result(two)).toEqual({ items: ['a', 'b', 'c'] })
    expect(aggregate.encode(aggregate.retract!(two, 'c'))).toEqual(['a', 'b'])
    expect(aggregate.difference!(1, undefined)).toEqual([1, null])
    expect(aggregate.encode(aggregate.decode(['x'])!)).toEqual(['x'])
    expect(aggregate.decode('no bag')).toBeUndefined()
    expect(guarded({ result: () => undefined }, isolation).result(aggregate.create())).toBeUndefined()
  })

  it('[WIN-50] has no operation that the aggregate lacks', () => {
    const { retract: _retract, difference: _difference, ...rest } = bag
    const aggregate = guardAggregate(rest, { isolation })
    expect(Object.keys(aggregate)).not.toContain('retract')
    expect(Object.keys(aggregate)).not.toContain('difference')
  })

  it('[WIN-50] keeps the object that its operations belong to', () => {
    class Counter implements Aggregate<unknown, number> {
      readonly name = 'counter'
      readonly version = 1
      readonly step = 3
      create(): number {
        return 0
      }
      add(count: number): number {
        return count + this.step
      }
      merge(into: number, from: number): number {
        return into + from
      }
      retract(count: number): number {
        return count - this.step
      }
      result(count: number): JsonValue {
        return count / this.step
      }
      difference(current?: JsonValue, previous?: JsonValue): JsonValue {
        return (Number(current ?? 0) - Number(previous ?? 0)) * (this.step / 3)
      }
      encode(count: number): JsonValue {
        return count
      }
      decode(encoded: JsonValue): number | undefined {
        return typeof encoded === 'number' ? encoded : undefined
      }
    }
    const aggregate = guardAggregate(new Counter(), { isolation })
    const state = aggregate.retract!(aggregate.add(aggregate.add(0, 'x'), 'x'), 'x')
    expect([aggregate.result(state), aggregate.difference!(2, 1)]).toEqual([1, 1])
  })

  it.each(['add', 'merge', 'retract', 'result', 'difference', 'encode'] as const)(
    '[WIN-50] %s that throws is told with its cause',
    (operation) => {
      const cause = new RangeError('too much')
      const throwing = (): never => {
        throw cause
      }
      const fine = bag[operation] as (...args: unknown[]) => unknown
      const parts = { [operation]: operation === 'encode' ? later(fine, throwing) : throwing } as Partial<Parts>
      const aggregate = guarded(parts, isolation)
      const calls: Readonly<Record<typeof operation, () => unknown>> = {
        add: () => aggregate.add({ items: [] }, 1),
        merge: () => aggregate.merge({ items: [] }, { items: [] }),
        retract: () => aggregate.retract!({ items: [] }, 1),
        result: () => aggregate.result({ items: [] }),
        difference: () => aggregate.difference!(1, 2),
        encode: () => Array.from({ length: 9 }, () => aggregate.encode({ items: [] })),
      }
      expect(calls[operation]).toThrow(fault('TM_WINDOW_AGGREGATE_THREW', operation, { reason: 'too much' }))
      try {
        calls[operation]()
      } catch (thrown) {
        expect((thrown as Error).cause).toBe(cause)
      }
    },
  )

  it('[WIN-50] decode and create that throw are told too, create before anything was computed', () => {
    const decode = later(
      bag.decode,
      () => {
        throw new Error('torn')
      },
      1,
    )
    expect(() => guarded({ decode }, isolation).decode([])).toThrow(
      fault('TM_WINDOW_AGGREGATE_THREW', 'decode', { reason: 'torn' }),
    )
    const create = (): never => {
      throw new Error('none left')
    }
    expect(() => guarded({ create }, isolation)).toThrow(
      fault('TM_WINDOW_AGGREGATE_THREW', 'create', { reason: 'none left' }),
    )
  })

  it.each([
    ['undefined', undefined],
    ['NaN', Number.NaN],
    ['a fraction', 0.1 + 0.2],
    ['an unsafe integer', 2 ** 53],
    ['an infinite number', Number.NEGATIVE_INFINITY],
    ['a function', () => 1],
    ['a symbol', Symbol('s')],
    ['a promise', Promise.resolve({ items: [] })],
  ])('[WIN-50] %s is no accumulator, whichever operation gives it', (_, wrong) => {
    const give = (() => wrong) as () => never
    expect(() => guarded({ create: give }, isolation)).toThrow(value('create', '$'))
    expect(() => guarded({ add: give }, isolation).add({ items: [] }, 1)).toThrow(value('add', '$'))
    expect(() => guarded({ merge: give }, isolation).merge({ items: [] }, { items: [] })).toThrow(value('merge', '$'))
    expect(() => guarded({ retract: give }, isolation).retract!({ items: [] }, 1)).toThrow(value('retract', '$'))
    if (wrong === undefined) return // Which decode says of what it does not take.
    expect(() => guarded({ decode: give }, isolation)).toThrow(value('decode', '$'))
  })

  it('[WIN-50] an async operation is refused, and its own failure ends nothing', async () => {
    const add = (async () => Promise.reject(new Error('later'))) as unknown as Parts['add']
    expect(() => guarded({ add }, isolation).add({ items: [] }, 1)).toThrow(value('add', '$'))
    const result = (async () => Promise.reject(new Error('later'))) as unknown as Parts['result']
    expect(() => guarded({ result }, isolation).result({ items: [] })).toThrow(value('result', '$'))
    // A rejection that nobody took would fail this file once the queue of promises is empty.
    await new Promise((resolve) => setTimeout(resolve, 0))
  })

  it.each([
    ['a fraction', 0.5, '$.items[1]'],
    ['NaN', Number.NaN, '$.items[1]'],
    ['undefined', undefined, '$.items[1]'],
    ['a date', new Date(0), '$.items[1]'],
    ['a map', new Map(), '$.items[1]'],
    ['a bigint', 5n, '$.items[1]'],
    ['a lone surrogate', 'a\uD800', '$.items[1]'],
    ['something inside', { at: [1, { deep: new Date(0) }] }, '$.items[1].at[1].deep'],
  ])('[WIN-50] %s in what is written is refused with its path', (_, wrong, path) => {
    const inside = guarded({ result: ({ items }) => ({ items: items as JsonValue[] }) }, 'none')
    expect(() => inside.result({ items: ['fine', wrong] })).toThrow(value('result', path))
    expect(() => inside.encode({ items: ['fine', wrong] })).toThrow(value('encode', path.replace('.items', '')))
    const difference = (() => ({ items: ['fine', wrong] })) as unknown as NonNullable<Parts['difference']>
    expect(() => guarded({ difference }, isolation).difference!(1, 2)).toThrow(value('difference', path))
  })

  it('[WIN-50] encode and difference must give something, result need not', () => {
    const nothing = (() => undefined) as unknown as () => JsonValue
    expect(() => guarded({ encode: nothing }, isolation)).toThrow(
      expect.objectContaining({ code: 'TM_WINDOW_AGGREGATE_VALUE_INVALID' }),
    )
    expect(() => guarded({ difference: nothing }, isolation).difference!(1, 2)).toThrow(value('difference', '$'))
  })

  it('[WIN-50] a result is a copy: what happens later does not change it', () => {
    const aggregate = guarded({}, isolation)
    const state = aggregate.add(aggregate.create(), { deep: ['a'] })
    const told = aggregate.result(state) as { readonly items: readonly JsonValue[] }
    ;(state.items[0] as { deep: string[] }).deep.push('b')
    state.items.push('c')
    expect(told).toEqual({ items: [{ deep: ['a'] }] })
  })

  it('[WIN-50] what decode takes must be encoded as it was stored', () => {
    const forgetful = guarded({ decode: later(bag.decode, () => ({ items: [] }), 1) }, isolation)
    expect(() => forgetful.decode(['a'])).toThrow(value('decode', '$'))
    const aggregate = guarded({}, isolation)
    expect(() => aggregate.decode([0.5])).toThrow(value('decode', '$[0]'))
  })

  it('[WIN-50] an error of an aggregate inside keeps its own name', () => {
    const inner = createSum({ name: 'inner', version: 7, read: (payload: unknown) => payload as number })
    const outer = guardAggregate({ ...inner, name: 'outer' }, { isolation })
    expect(() => outer.add(outer.create(), 0.5)).toThrow(
      expect.objectContaining({ details: expect.objectContaining({ aggregate: 'inner@7', operation: 'add' }) }),
    )
  })
})

describe('what an operation did before it failed', () => {
  const half = (state: Bag, payload: unknown): Bag => {
    state.items.push(payload)
    ;(state.items[0] as unknown[]).push('inside')
    throw new Error('half way')
  }
  const parts: Partial<Parts> = { add: half, retract: half, merge: (into, from) => half(into, from.items.splice(0)) }
  const states = (): readonly [Bag, Bag] => [{ items: [['first']] }, { items: ['other'] }]
  const attempts = (isolation: AggregateIsolation, into: Bag, from: Bag): readonly (() => unknown)[] => {
    const aggregate = guarded(parts, isolation)
    return [() => aggregate.add(into, 1), () => aggregate.retract!(into, 1), () => aggregate.merge(into, from)]
  }

  it('[WIN-51] copy: the accumulator is as it was, all the way down', () => {
    const [into, from] = states()
    for (const attempt of attempts('copy', into, from)) {
      expect(attempt).toThrow(expect.objectContaining({ code: 'TM_WINDOW_AGGREGATE_THREW' }))
      expect([into, from]).toEqual(states())
    }
  })

  it('[WIN-51] copy: also when what it gave is refused, and what fails is told at the operation that did it', () => {
    const add = (state: Bag): Bag => {
      state.items.push(new Date(0))
      return state
    }
    const [into] = states()
    expect(() => guarded({ add }, 'copy').add(into, 1)).toThrow(value('add', '$[1]'))
    expect(into).toEqual(states()[0])
    const kept = guarded({ add }, 'none').add(into, 1)
    expect(() => guarded({ add }, 'none').encode(kept)).toThrow(value('encode', '$[1]'))
  })

  it('[WIN-51] none: the accumulator holds what was done to it, and no more is promised', () => {
    const [into, from] = states()
    expect(attempts('none', into, from)[0]!).toThrow(expect.objectContaining({ code: 'TM_WINDOW_AGGREGATE_THREW' }))
    expect(into).toEqual({ items: [['first', 'inside'], 1] })
  })

  it('[WIN-51] copy: result and merge cannot change what they are given', () => {
    const result = (state: Bag): JsonValue => state.items.splice(0).length
    const merge = (into: Bag, from: Bag): Bag => ({ items: [...into.items.splice(0), ...from.items.splice(0)] })
    const [into, from] = states()
    expect(guarded({ result }, 'copy').result(into)).toBe(1)
    expect(guarded({ merge }, 'copy').merge(into, from)).toEqual({ items: [['first'], 'other'] })
    expect([into, from]).toEqual(states())
  })
})

describe('declarations', () => {
  const refused = (field: string) =>
    expect.objectContaining({
      code: 'TM_WINDOW_AGGREGATE_DECLARATION_INVALID',
      details: expect.objectContaining({ field }),
    })

  it.each(['create', 'add', 'merge', 'result', 'encode', 'decode'] as const)('[WIN-50] %s must be there', (field) => {
    const { [field]: _gone, ...rest } = bag
    expect(() => guardAggregate(rest as Parts, { isolation: 'none' })).toThrow(refused(field))
  })

  it.each(['add', 'retract', 'difference'] as const)('[WIN-50] %s must be a function', (field) => {
    expect(() => guarded({ [field]: 5 } as unknown as Partial<Parts>, 'none')).toThrow(refused(field))
    expect(() => guarded({ [field]: null } as unknown as Partial<Parts>, 'none')).toThrow(refused(field))
  })

  it.each([undefined, null, 'bag', () => bag])('[WIN-50] %s is no aggregate', (nothing) => {
    expect(() => guardAggregate(nothing as unknown as Parts, { isolation: 'none' })).toThrow(refused('aggregate'))
  })

  it('[WIN-50] decode that does not take what encode gives could restore nothing', () => {
    expect(() => guarded({ decode: () => undefined }, 'none')).toThrow(refused('decode'))
    expect(() => guarded({ decode: () => undefined }, 'copy')).toThrow(refused('decode'))
  })

  it('[WIN-50] name, version and isolation are checked', () => {
    expect(() => guarded({ name: '' }, 'none')).toThrow(refused('name'))
    expect(() => guarded({ version: 0 }, 'none')).toThrow(refused('version'))
    expect(() => guarded({}, 'some' as 'none')).toThrow(refused('isolation'))
  })

  it('[WIN-50] create that gives one object twice would join windows, frozen outside or not', () => {
    const shared: Bag = { items: [] }
    expect(() => guarded({ create: () => shared }, 'none')).toThrow(refused('create'))
    expect(() => guarded({ create: () => Object.freeze(shared) }, 'copy')).toThrow(refused('create'))
    expect(guarded({ create: () => Object.freeze({ items: [] }) }, 'none').create()).toEqual({ items: [] })
  })
})
