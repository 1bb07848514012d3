import { AssertionError } from 'node:assert/strict'
import { committedLogCases, projectionStoreCases } from '@tidemark/testkit/contract'
import { describe, expect, it } from 'vitest'
import { createMemoryStoreWorld } from './memory-store-world.ts'
import { logMutants } from './mutants/log-mutants.ts'
import { splitMutants } from './mutants/split-mutants.ts'
import { storeMutants } from './mutants/store-mutants.ts'
import { createSimLogWorld } from './sim-log-world.ts'
import { createSplitStoreWorld } from './split-store-world.ts'

/** How a case ends on a subject. Only a broken law counts as found; a crash of the mutant itself would prove nothing. */
async function outcomeOf(run: () => Promise<void>): Promise<'passed' | 'law broken'> {
  try {
    await run()
    return 'passed'
  } catch (error) {
    if (error instanceof AssertionError) return 'law broken'
    throw error
  }
}

function caseOf<C extends { readonly id: string }>(cases: readonly C[], id: string): C {
  const found = cases.find((each) => each.id === id)
  if (found === undefined) throw new Error(`there is no case ${id}`)
  return found
}

describe('planted bugs of a projection store', () => {
  for (const mutant of storeMutants) {
    it(`[TST-8] ${mutant.caughtBy} finds: ${mutant.name}`, async () => {
      const found = caseOf(projectionStoreCases, mutant.caughtBy)
      expect(await outcomeOf(() => found.run(async () => createMemoryStoreWorld(mutant.open)))).toBe('law broken')
    })
  }
})

describe('planted bugs of a store on two servers', () => {
  for (const { name, caughtBy, join } of splitMutants) {
    it(`[TST-8] ${caughtBy} finds: ${name}`, async () => {
      const found = caseOf(projectionStoreCases, caughtBy)
      expect(await outcomeOf(() => found.run(async () => createSplitStoreWorld('both', join)))).toBe('law broken')
    })
  }
})

describe('planted bugs of a committed log', () => {
  for (const mutant of logMutants) {
    it(`[TST-8] ${mutant.caughtBy} finds: ${mutant.name}`, async () => {
      const found = caseOf(committedLogCases, mutant.caughtBy)
      const make = async () => createSimLogWorld({ seed: 5 }, (log, sim) => mutant.wrap(log, sim))
      expect(await outcomeOf(() => found.run(make))).toBe('law broken')
    })
  }
})

describe('the suites themselves', () => {
  it('[TST-8] at least 15 bugs are planted, and every id of a case is its own', () => {
    expect(storeMutants.length + logMutants.length).toBeGreaterThanOrEqual(15)
    const ids = [...projectionStoreCases, ...committedLogCases].map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
  })
})
