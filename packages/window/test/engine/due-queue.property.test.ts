import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createDueQueue } from '../../src/engine/due-queue.ts'
import { runSize } from '../run-size.ts'

const dueMs = fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer(), fc.constant(Infinity), fc.constant(-Infinity))

describe('the queue of what is due', () => {
  it('[WIN-63] gives back everything once, the earliest first, and what is due together in the order it came', () => {
    fc.assert(
      // `undefined` takes one out.
      fc.property(fc.array(fc.option(dueMs, { nil: undefined }), { maxLength: 300 }), (steps) => {
        const queue = createDueQueue()
        const waiting: { readonly dueMs: number; readonly what: number }[] = []
        for (const [what, due] of steps.entries()) {
          if (due !== undefined) {
            queue.put(due, what)
            waiting.push({ dueMs: due, what })
          } else if (waiting.length > 0) {
            const first = waiting.reduce((a, b) => (b.dueMs < a.dueMs ? b : a))
            expect(queue.nextDueMs).toBe(first.dueMs)
            expect(queue.take()).toBe(first.what)
            waiting.splice(waiting.indexOf(first), 1)
          }
          expect(queue.size).toBe(waiting.length)
        }
        const rest = waiting.toSorted((a, b) => (a.dueMs < b.dueMs ? -1 : a.dueMs > b.dueMs ? 1 : a.what - b.what))
        expect(rest.map(() => queue.take())).toEqual(rest.map(({ what }) => what))
        expect([queue.size, queue.nextDueMs]).toEqual([0, Infinity])
      }),
      runSize(500, 20_000),
    )
  })
})
