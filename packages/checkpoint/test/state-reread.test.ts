import { encodeMeta, rereadRefusals, sameFields } from '@tidemark/checkpoint'
import type { StoredState } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { encodeFence, encodeWitness, witnessOf } from '@tidemark/log'
import type { Fence } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { checkpoint, identity, stored } from './planner-input.ts'

const fence = (digit: string): Fence => ({ epoch: 2n, nonce: digit.repeat(32) })
const claimed = new Map([
  [0, fence('a')],
  [1, fence('b')],
])
const fences = new Map([...claimed].map(([partition, held]) => [partition, encodeFence(held)]))
const witness = (offset: number): string =>
  encodeWitness(
    witnessOf({
      partition: 0,
      offset: offsetOf(offset),
      leaderEpoch: 0,
      timestampMs: 1,
      key: null,
      value: null,
      headers: [],
    }),
  )

const before = stored([5, 9], { witnesses: new Map([[0, witness(4)]]) })
const after = (changed: Partial<StoredState> = {}): StoredState => ({ ...before, fences, ...changed })
const found = (state: StoredState, from: StoredState = before): readonly string[] =>
  rereadRefusals(from, state, claimed).map(({ code, partition }) =>
    partition === undefined ? code : `${code}@${partition}`,
  )

describe('state read again after the claim', () => {
  it('[CKP-13] may be planned from where nothing changed but the fences', () => {
    expect(found(after())).toEqual([])
    const fresh = { ...before, incarnation: { nonce: undefined, process: 'p1' } }
    expect(found(after(), fresh)).toEqual([])
  })

  it('[CKP-13] may be planned from where a position and its witness moved forwards', () => {
    const checkpoints = new Map([
      [0, checkpoint(0, 8)],
      [1, checkpoint(1, 9)],
    ])
    expect(found(after({ checkpoints, witnesses: new Map([[0, witness(7)]]) }))).toEqual([])
    const first = { ...before, witnesses: new Map<number, string>() }
    expect(found(after(), first)).toEqual([])
  })

  const changes: readonly [string, Partial<StoredState>, string][] = [
    ['meta changed', { meta: { ...encodeMeta(identity), cluster_id: 'x' } }, 'STATE_CHANGED'],
    ['meta gone', { meta: undefined }, 'STATE_CHANGED'],
    ['another process', { incarnation: { ...before.incarnation, process: 'p2' } }, 'STATE_CHANGED'],
    ['another nonce', { incarnation: { ...before.incarnation, nonce: 'cd'.repeat(16) } }, 'STATE_CHANGED'],
    ['the nonce gone', { incarnation: { ...before.incarnation, nonce: undefined } }, 'STATE_CHANGED'],
    [
      'a position gone back',
      {
        checkpoints: new Map([
          [0, checkpoint(0, 4)],
          [1, checkpoint(1, 9)],
        ]),
      },
      'STATE_CHANGED@0',
    ],
    ['a checkpoint gone', { checkpoints: new Map([[0, checkpoint(0, 5)]]) }, 'STATE_CHANGED@1'],
    ['a checkpoint new', { checkpoints: new Map([...before.checkpoints, [2, checkpoint(2, 0)]]) }, 'STATE_CHANGED@2'],
    [
      'a checkpoint of another identity',
      { checkpoints: new Map([...before.checkpoints, [1, checkpoint(1, 9, { ...identity, clusterId: 'x' })]]) },
      'STATE_CHANGED@1',
    ],
    [
      'a checkpoint damaged',
      { checkpoints: new Map([...before.checkpoints, [1, { ...checkpoint(1, 9), next_offset: '' }]]) },
      'STATE_CHANGED@1',
    ],
    ['the witness gone back', { witnesses: new Map([[0, witness(3)]]) }, 'STATE_CHANGED@0'],
    ['the witness gone', { witnesses: new Map() }, 'STATE_CHANGED@0'],
    ['a fence taken', { fences: new Map([...fences, [1, encodeFence(fence('c'))]]) }, 'FENCED@1'],
    ['a fence gone', { fences: new Map([[1, fences.get(1)!]]) }, 'FENCED@0'],
  ]
  it.each(changes)('[CKP-13] is refused: %s', (_, changed, code) => {
    expect(found(after(changed))).toEqual([code])
  })

  it('[CKP-13] equal hashes are equal whatever the order of their fields', () => {
    const fields = checkpoint(0, 5)
    expect(sameFields(fields, Object.fromEntries(Object.entries(fields).reverse()))).toBe(true)
    expect(sameFields(fields, { ...fields, extra: '1' })).toBe(false)
    expect(sameFields({ a: '1' }, { b: '1' })).toBe(false)
    expect(sameFields(undefined, undefined)).toBe(true)
    expect(sameFields(fields, undefined)).toBe(false)
  })

  it('[CKP-13] [CKP-19] a position in the data may have moved forwards, and nothing else', () => {
    const with_ = (next: number | undefined) =>
      stored([5, 9], { twins: new Map(next === undefined ? [] : [[0, String(next)]]) })
    const codes = (a: number | undefined, b: number | undefined) =>
      rereadRefusals(with_(a), with_(b), new Map()).map(({ code, partition }) => `${code}@${partition}`)
    expect(codes(5, 7)).toEqual([])
    for (const [a, b] of [
      [5, 4],
      [5, undefined],
      [undefined, 5],
    ] as const) {
      expect(codes(a, b)).toEqual(['STATE_CHANGED@0'])
    }
  })
})
