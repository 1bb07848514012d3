import { planStart } from '@tidemark/checkpoint'
import type { StoreFacts } from '@tidemark/checkpoint'
import { describe, expect, it } from 'vitest'
import { input, reasons, soundFacts, stored } from './planner-input.ts'

function found(changed: Partial<StoreFacts>, dataKeysCarryNoExpiry = false): readonly string[] {
  const declarations = { dataKeysCarryNoExpiry, latestRecordPerKeySuffices: false }
  return reasons(planStart(input({ declarations, stored: stored([5, 9], { facts: { ...soundFacts, ...changed } }) })))
}

describe('what a store says of itself', () => {
  it.each([
    ['keeps-all', false, []],
    ['expiring-only', false, ['EVICTION_POLICY']],
    ['expiring-only', true, []],
    ['any-key', false, ['EVICTION_POLICY']],
    ['any-key', true, ['EVICTION_POLICY']],
    ['unknown', false, ['EVICTION_POLICY']],
    ['unknown', true, ['EVICTION_POLICY']],
  ] as const)('[CKP-8] [CK-43] eviction %s, data keys declared without expiry: %s', (kind, declared, expected) => {
    expect(found({ eviction: { policy: 'some-policy', kind } }, declared)).toEqual(expected)
  })

  it('[CKP-8] [CK-43] each of our keys that expires is named', () => {
    const expiringKeys = ['session_projection:meta', 'session_projection:checkpoint:dispatch:1']
    expect(found({ expiringKeys }, true)).toEqual(['KEY_EXPIRES', 'KEY_EXPIRES'])
  })

  it('[CKP-8] loading, replica and another database are refused', () => {
    expect(found({ isLoaded: false })).toEqual(['STORE_LOADING'])
    expect(found({ isPrimary: false })).toEqual(['STORE_REPLICA'])
    expect(found({ database: { expected: '3', found: '0' } })).toEqual(['STORE_DATABASE'])
  })
})
