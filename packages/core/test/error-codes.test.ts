import { durationOf, eventTimeOf, invariant, isTidemarkError } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

function thrownBy(act: () => unknown): unknown {
  try {
    return act()
  } catch (error) {
    return error
  }
}

describe('codes', () => {
  it('[COR-4] name a time that is none, and where it came from', () => {
    for (const act of [() => eventTimeOf(0.5, 'created_at'), () => durationOf(-1, 'created_at')]) {
      const error = thrownBy(act)
      expect(isTidemarkError(error, 'TM_CORE_TIME_INVALID')).toBe(true)
      expect(error).toMatchObject({ retriable: false, details: { where: 'created_at' } })
    }
  })

  it('[COR-8] name a broken invariant, and only a broken one', () => {
    expect(thrownBy(() => invariant(true, 'sum', 'it holds'))).toBeUndefined()
    const error = thrownBy(() => invariant(false, 'sum', 'two and two is five'))
    expect(isTidemarkError(error, 'TM_CORE_INVARIANT_VIOLATED')).toBe(true)
    expect(error).toMatchObject({
      message: 'invariant sum does not hold: two and two is five',
      docsPath: 'docs/errors/core.md#tm_core_invariant_violated',
    })
  })
})
