import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import type { RegisteredCases } from '@tidemark/testkit/contract'
import { describe, expect, it } from 'vitest'
import { createSplitStoreWorld, splitCapabilities } from './split-store-world.ts'
import type { DamagedSides } from './split-store-world.ts'

const register = (damaged: DamagedSides): RegisteredCases =>
  registerCases(projectionStoreCases, async () => createSplitStoreWorld(damaged), {
    describe,
    it,
    subject: `split memory projection store, damage to ${damaged}`,
    capabilities: splitCapabilities(damaged),
  })

const registered = { both: register('both'), checkpoints: register('checkpoints') }

describe('what a store on two servers cannot have', () => {
  it('[TST-7] is exactly this: a bootstrap that is whole over both, a rollback, one process', () => {
    const lacking = (damaged: DamagedSides) => registered[damaged].notApplicable.map(({ id }) => id).sort()
    const never = ['PST-16', 'PST-17', 'PST-20', 'PST-49', 'PST-61']
    expect(lacking('both')).toEqual(never)
    // Where only the checkpoints are damaged, the data has been written before anything is noticed.
    const noticedLate = ['PST-31', 'PST-34', 'PST-35', 'PST-39', 'PST-63', 'PST-65', 'PST-66']
    expect(lacking('checkpoints')).toEqual([...never, ...noticedLate].sort())
  })
})
