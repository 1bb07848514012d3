import { describe, expect, it } from 'vitest'
import { projectionTransitions } from '../../src/index.ts'
import type { ProjectionEvent, ProjectionState } from '../../src/index.ts'

const states = Object.keys(projectionTransitions) as ProjectionState[]
const events: readonly ProjectionEvent[] = ['started', 'refused', 'caught-up', 'failed', 'stopped']

describe('the states of a projection', () => {
  it('[CKP-30] ready is reached from catching-up only, and only by having caught up', () => {
    for (const state of states) {
      for (const event of events) {
        const isReady = projectionTransitions[state][event] === 'ready'
        expect(isReady).toBe(state === 'catching-up' && event === 'caught-up')
      }
    }
  })

  it('[CKP-30] nothing leads out of dirty but stopping, and nothing at all out of stopped', () => {
    expect(events.map((event) => projectionTransitions.dirty[event])).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
      'stopped',
    ])
    expect(events.map((event) => projectionTransitions.stopped[event])).toEqual(events.map(() => undefined))
  })

  it('[CKP-30] every living state can fail and can be stopped', () => {
    for (const state of ['starting', 'catching-up', 'ready'] as const) {
      expect(projectionTransitions[state].failed).toBe('dirty')
      expect(projectionTransitions[state].stopped).toBe('stopped')
    }
  })
})
