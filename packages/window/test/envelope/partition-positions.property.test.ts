import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createPartitionPositions } from '@tidemark/window'
import type { PartitionPositions, PositionsStart } from '@tidemark/window'
import { runSize } from '../run-size.ts'
import { place, recordOf } from './record-of.ts'

const first = 5

/** Where the log is read: at, beyond or before the next offset; one of two events that may stand there; or news of its end. */
type Step =
  | { readonly kind: 'record'; readonly delta: number; readonly event: 'a' | 'b' }
  | { readonly kind: 'end'; readonly delta: number }

const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('record' as const),
        delta: fc.constantFrom(0, 0, 0, 1, 3, -1, -1, -2, -4, -9),
        event: fc.constantFrom('a' as const, 'a', 'b'),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('end' as const), delta: fc.integer({ min: -2, max: 3 }) }) },
  ),
  { maxLength: 60 },
)

function begin(start: PositionsStart): PartitionPositions<unknown> {
  return createPartitionPositions({ partitions: [place], payloadDigest: (payload) => JSON.stringify(payload), start })
}

/** Everything that happened to every offset, in full. */
class SlowLog {
  readonly offsets = new Map<number, string>()
  next = first

  verdict(offset: number, event: string): string {
    if (offset === this.next) return 'NEXT'
    if (offset > this.next) return 'HOLE'
    const taken = [...this.offsets].filter(([, content]) => content !== 'hole').map(([at]) => at)
    const last = Math.max(...taken)
    if (offset === last) return this.offsets.get(offset) === event ? 'REPLAY' : 'SOURCE_OFFSET_CONFLICT'
    if (offset >= first && taken.every((at) => at < offset)) return 'SOURCE_OFFSET_CONFLICT'
    return 'REPLAY_UNVERIFIED'
  }

  cover(to: number): void {
    for (let offset = this.next; offset < to; offset += 1) this.offsets.set(offset, 'hole')
    this.next = Math.max(this.next, to)
  }

  take(offset: number, event: string): void {
    this.cover(offset)
    this.offsets.set(offset, event)
    this.next = offset + 1
  }

  count(of: (content: string) => boolean): number {
    return [...this.offsets.values()].filter(of).length
  }
}

describe('positions of any log', () => {
  it('[WIN-22] [WIN-23] agree with a full account of every offset after every step, cut or not', () => {
    fc.assert(
      fc.property(steps, fc.nat(100), (drawn, pick) => {
        const log = new SlowLog()
        let positions = begin({ kind: 'at', offsets: [first] })
        for (const [at, step] of drawn.entries()) {
          const offset = Math.max(0, log.next + step.delta)
          if (step.kind === 'end') {
            const from = log.next
            log.cover(offset)
            const passed = offset > from ? { kind: 'passed', from, to: offset } : { kind: 'nothing' }
            expect(positions.passHole(0, offset)).toEqual(passed)
          } else {
            const record = recordOf(offset, { eventId: step.event })
            const verdict = positions.judge(0, record)
            expect(verdict, `${offset}`).toBe(log.verdict(offset, step.event))
            if (verdict === 'NEXT' || verdict === 'HOLE') {
              positions.take(0, record)
              log.take(offset, step.event)
            }
          }
          expect(positions.nextOffset(0)).toBe(log.next)
          expect(positions.recordsTaken(0)).toBe(log.count((content) => content !== 'hole'))
          expect(positions.holeOffsets(0)).toBe(log.count((content) => content === 'hole'))
          expect(positions.nextOffset(0) - first).toBe(positions.recordsTaken(0) + positions.holeOffsets(0))
          if (at === pick % 20) {
            const state: unknown = JSON.parse(JSON.stringify(positions.state()))
            positions = begin({ kind: 'restore', state: state as ReturnType<typeof positions.state> })
            expect(positions.state()).toEqual(state)
          }
        }
      }),
      runSize(500, 20_000),
    )
  })
})
