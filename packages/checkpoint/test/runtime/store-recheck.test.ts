import { offsetOf } from '@tidemark/core'
import { encodeFence } from '@tidemark/log'
import type { Fence } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { encodeMeta } from '../../src/index.ts'
import type { StoredState } from '../../src/index.ts'
import { judgeRecheck } from '../../src/runtime/run/store-recheck.ts'
import type { HeldState } from '../../src/runtime/run/store-recheck.ts'
import { checkpoint, identity, soundFacts, stored } from '../planner-input.ts'

const fence = (digit: string): Fence => ({ epoch: 3n, nonce: digit.repeat(32) })
const nonce = 'a'.repeat(32)

const held: HeldState = {
  identity,
  declarations: { dataKeysCarryNoExpiry: false },
  nonce,
  fences: new Map([
    [0, fence('0')],
    [1, fence('1')],
  ]),
  dataPositions: new Map(),
  positions: new Map([
    [0, { lowest: offsetOf(4), highest: offsetOf(9) }],
    [1, { lowest: offsetOf(7), highest: offsetOf(7) }],
  ]),
}

/** What the store must hold, with a part of it changed. */
function state(changed: Partial<StoredState> = {}, nexts: readonly (number | undefined)[] = [5, 7]): StoredState {
  return stored(nexts, {
    fences: new Map([...held.fences].map(([partition, each]) => [partition, encodeFence(each)])),
    incarnation: { nonce, process: 'another process, which is judged elsewhere' },
    facts: soundFacts,
    ...changed,
  })
}

const fences = (zero: string | undefined): StoredState['fences'] =>
  new Map([...(zero === undefined ? [] : [[0, zero] as const]), [1, encodeFence(fence('1'))]])
const foreign = { ...identity, clusterId: 'cluster-b' }

describe('stored state re-read while running', () => {
  it.each([
    ['where the step under way has not arrived', [4, 7]],
    ['where the step under way leads', [9, 7]],
  ])('[CKP-38] is ours %s', (_, nexts) => {
    expect(judgeRecheck(held, state({}, nexts))).toBeUndefined()
  })

  const wrong: readonly (readonly [string, StoredState, string, string])[] = [
    [
      'another incarnation',
      state({ incarnation: { nonce: 'b'.repeat(32), process: 'p' } }),
      'STORE_CHANGED',
      'incarnation',
    ],
    ['no incarnation', state({ incarnation: { nonce: undefined, process: 'p' } }), 'STORE_CHANGED', 'incarnation'],
    [
      'a fence of another writer of the same epoch',
      state({ fences: fences(encodeFence(fence('f'))) }),
      'FENCED',
      'epoch 3',
    ],
    ['a fence that is gone', state({ fences: fences(undefined) }), 'STORE_CHANGED', 'fence of partition 0 is missing'],
    [
      'a fence that is damaged',
      state({ fences: fences('3:zz') }),
      'STORE_CHANGED',
      'fence of partition 0 is unreadable',
    ],
    ['meta gone', state({ meta: undefined }), 'STORE_CHANGED', 'meta is gone'],
    ['meta damaged', state({ meta: { ...encodeMeta(identity), extra: '1' } }), 'STORE_CHANGED', 'meta is damaged'],
    ['meta of another log', state({ meta: encodeMeta(foreign) }), 'STORE_CHANGED', 'clusterId is cluster-b'],
    ['a checkpoint gone', state({}, [5, undefined]), 'STORE_CHANGED', 'checkpoint of partition 1 is gone'],
    ['a checkpoint behind', state({}, [3, 7]), 'STORE_CHANGED', 'checkpoint 0 is 3'],
    ['a checkpoint ahead', state({}, [10, 7]), 'STORE_CHANGED', 'checkpoint 0 is 10'],
    [
      'a checkpoint of another log',
      state({
        checkpoints: new Map([
          [0, checkpoint(0, 5)],
          [1, checkpoint(1, 7, foreign)],
        ]),
      }),
      'STORE_CHANGED',
      'checkpoint 1: clusterId is cluster-b',
    ],
    [
      'a checkpoint of another partition',
      state({
        checkpoints: new Map([
          [0, checkpoint(1, 5)],
          [1, checkpoint(1, 7)],
        ]),
      }),
      'STORE_CHANGED',
      'checkpoint of partition 0 is damaged',
    ],
    [
      'a checkpoint damaged',
      state({
        checkpoints: new Map([
          [0, { ...checkpoint(0, 5), next_offset: '05' }],
          [1, checkpoint(1, 7)],
        ]),
      }),
      'STORE_CHANGED',
      'checkpoint of partition 0 is damaged',
    ],
    [
      'a key of another type',
      state({ unreadable: [{ key: 'k', problem: 'a list' }] }),
      'STORE_CHANGED',
      'k cannot be read',
    ],
    ['a replica', state({ facts: { ...soundFacts, isPrimary: false } }), 'STORE_CHANGED', 'replica'],
    ['a store that is loading', state({ facts: { ...soundFacts, isLoaded: false } }), 'STORE_CHANGED', 'loading'],
  ]
  it.each(wrong)('[CKP-38] %s ends in dirty', (_, found, code, words) => {
    const reason = judgeRecheck(held, found)
    expect(reason?.code).toBe(code)
    expect(reason?.message).toContain(words)
  })

  it('[CKP-51] [CKP-38] a position in the data that is gone, damaged, of another log or elsewhere ends the projection', () => {
    const dataPositions = new Map([[0, { lowest: offsetOf(5), highest: offsetOf(9) }]])
    const judged = (twin: string | undefined) =>
      judgeRecheck({ ...held, dataPositions }, state({ twins: new Map(twin === undefined ? [] : [[0, twin]]) }))
    for (const next of ['5', '7', '9']) expect(judged(next)).toBeUndefined()
    for (const twin of ['4', '10', '07', 'of another log', undefined])
      expect(judged(twin)).toMatchObject({ code: 'STORE_CHANGED', partition: 0 })
    // Stores that keep both together report no twins, and none are missed.
    expect(judgeRecheck({ ...held, dataPositions }, state())).toBeUndefined()
  })
})
