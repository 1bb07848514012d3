import { describe, expect, it } from 'vitest'
import { createProjection } from '../../src/index.ts'
import type { CommittedLog } from '@tidemark/log'
import type { IdempotentWriter, ProjectionOptions } from '../../src/index.ts'
import { resolveOptions } from '../../src/runtime/projection-options.ts'
import { createMemoryProjectionStore, createMemoryServer } from '../../src/memory.ts'

const nonce = (): string => '0123456789abcdef0123456789abcdef'

function options(changed: object = {}): ProjectionOptions<IdempotentWriter> {
  return {
    topic: 'dispatch',
    // Options are judged before anything is opened, so an unusable log must not matter.
    log: {} as CommittedLog,
    store: createMemoryProjectionStore({ namespace: 'p', server: createMemoryServer({ nonce }), nonce }),
    project: () => undefined,
    readyTarget: 'hw',
    undecodable: 'stop',
    leaseMs: 1_000,
    limits: { batchRecordsMax: 100, stallMsMax: 10_000 },
    ...changed,
  } as ProjectionOptions<IdempotentWriter>
}

describe('options of a projection', () => {
  const wrong: readonly (readonly [string, object, string])[] = [
    ['an unknown target', { readyTarget: 'latest' }, 'TM_CHECKPOINT_OPTION_INVALID'],
    ['a target left out', { readyTarget: undefined }, 'TM_CHECKPOINT_OPTION_INVALID'],
    ['an unknown policy', { undecodable: 'skip' }, 'TM_CHECKPOINT_OPTION_INVALID'],
    ['no function', { project: undefined }, 'TM_CHECKPOINT_OPTION_INVALID'],
    ['an impossible topic', { topic: 'a:b' }, 'TM_CHECKPOINT_TOPIC_INVALID'],
    ['a lease of nothing', { leaseMs: 0 }, 'TM_CORE_LIMIT_INVALID'],
    ['a lease left out', { leaseMs: undefined }, 'TM_CORE_LIMIT_INVALID'],
    ['a batch of nothing', { limits: { batchRecordsMax: 0, stallMsMax: 1_000 } }, 'TM_CORE_LIMIT_INVALID'],
    ['no stall limit', { limits: { batchRecordsMax: 1 } }, 'TM_CORE_LIMIT_INVALID'],
    [
      'an inspection longer than the stall',
      { limits: { batchRecordsMax: 1, stallMsMax: 500, inspectMsMax: 600 } },
      'TM_CORE_LIMIT_INVALID',
    ],
  ]
  it.each(wrong)('[CKP-43] %s is refused before anything is opened', (_, changed, code) => {
    expect(() => createProjection(options(changed))).toThrow(expect.objectContaining({ code }))
  })

  it('[CKP-43] complete options make a projection that has opened nothing', () => {
    expect(createProjection(options()).status()).toMatchObject({ state: 'starting', ready: false, partitions: [] })
  })

  it('[CKP-43] only true itself declares anything, since a declaration widens what is safe', () => {
    const declarations = { latestRecordPerKeySuffices: 'false', dataKeysCarryNoExpiry: 1 }
    expect(resolveOptions(options({ declarations })).declarations).toEqual({
      latestRecordPerKeySuffices: false,
      dataKeysCarryNoExpiry: false,
    })
    const meant = { latestRecordPerKeySuffices: true }
    expect(resolveOptions(options({ declarations: meant })).declarations).toEqual({
      latestRecordPerKeySuffices: true,
      dataKeysCarryNoExpiry: false,
    })
  })
})
