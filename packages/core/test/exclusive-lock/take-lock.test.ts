import { decodeOwner } from '@tidemark/core/exclusive-lock'
import type { LockFiles } from '@tidemark/core/exclusive-lock'
import { describe, expect, it } from 'vitest'
import { FILE, LockWorld, nonceOf } from './lock-world.ts'
import type { Interruption } from './lock-world.ts'

const [deadOwner, deadTaker, deadTakerOfTaker] = [90, 91, 92]

/** What can lie about when somebody comes. */
const beginnings: Readonly<Record<string, (world: LockWorld) => void>> = {
  free: () => undefined,
  'left by a dead owner': (world) => world.leave(FILE, deadOwner),
  'left in the middle of a takeover': (world) => {
    world.leave(FILE, deadOwner)
    world.leave(`${FILE}.takeover-${nonceOf(deadOwner)}`, deadTaker)
  },
  'left in the middle of a takeover of a takeover': (world) => {
    world.leave(FILE, deadOwner)
    world.leave(`${FILE}.takeover-${nonceOf(deadOwner)}`, deadTaker)
    world.leave(`${FILE}.takeover-${nonceOf(deadTaker)}`, deadTakerOfTaker)
  },
}

/** A process that begins just before an operation of another one. */
interface Entry {
  readonly pid: number
  readonly into: number
  readonly before: number
}

const OPERATIONS_MAX = 20

interface Course {
  readonly entries: readonly Entry[]
  /** A process that dies just before one of its operations. */
  readonly death?: { readonly pid: number; readonly before: number } | undefined
}

function runCourse(begin: (world: LockWorld) => void, course: Course, corrupt?: (files: LockFiles) => LockFiles) {
  const interruption: Interruption = (pid, operation) => {
    for (const entry of course.entries) {
      if (entry.into === pid && entry.before === operation) world.run(entry.pid)
    }
    return course.death?.pid === pid && course.death.before === operation ? 'die' : 'go-on'
  }
  const world: LockWorld = new LockWorld(interruption, corrupt)
  begin(world)
  world.run(1)
  return world
}

/** Every way in which a second process comes into the first, and a third into either. */
function* courses(): Generator<Course> {
  for (let second = 0; second < OPERATIONS_MAX; second += 1) {
    for (const into of [1, 2]) {
      for (let third = 0; third < OPERATIONS_MAX; third += 1) {
        yield {
          entries: [
            { pid: 2, into: 1, before: second },
            { pid: 3, into, before: third },
          ],
        }
      }
    }
  }
}

function* deadlyCourses(): Generator<Course> {
  for (const { entries } of courses()) {
    for (const pid of [1, 2]) {
      for (let before = 0; before < OPERATIONS_MAX; before += 2) yield { entries, death: { pid, before } }
    }
  }
}

describe('three processes that come at once', () => {
  it.each(Object.entries(beginnings))('[COR-13] to a lock that is %s: one has it and never loses it', (_, begin) => {
    let met = 0
    const bad: unknown[] = []
    for (const course of courses()) {
      const { faults, takings } = runCourse(begin, course)
      const winners = [...takings.values()].filter(({ kind }) => kind === 'taken').length
      if (faults.length > 0 || winners > 1) bad.push({ course, faults, winners })
      met = Math.max(met, takings.size)
    }
    expect(bad).toEqual([])
    expect(met).toBe(3)
  })

  it.each(Object.entries(beginnings))(
    '[COR-13] to a lock that is %s, one of them dying: the next one gets it',
    (_, begin) => {
      const bad: unknown[] = []
      for (const course of deadlyCourses()) {
        const world = runCourse(begin, course)
        for (const pid of world.alive) world.end(pid)
        world.run(9)
        const { faults, takings } = world
        if (faults.length > 0 || takings.get(9)?.kind !== 'taken') bad.push({ course, faults, last: takings.get(9) })
      }
      expect(bad).toEqual([])
    },
  )

  it('[COR-13] is noticed when the right to take over is not exclusive', () => {
    const shared = (files: LockFiles): LockFiles => ({
      ...files,
      link: (from, to) => files.link(from, to) || to.includes('.takeover-'),
    })
    const faults = [...courses()].flatMap(
      (course) => runCourse(beginnings['left by a dead owner']!, course, shared).faults,
    )
    expect(faults.length).toBeGreaterThan(0)
  })
})

describe('one process', () => {
  it('[COR-12] leaves nothing but the lock, and not even that once it is released', () => {
    for (const begin of Object.values(beginnings)) {
      const world = new LockWorld()
      begin(world)
      world.run(1)
      expect(world.takings.get(1)?.kind).toBe('taken')
      world.holders.get(1)!.release()
      expect([...world.names.keys()].filter((name) => !name.includes('takeover'))).toEqual([])
      world.run(2)
      expect(world.takings.get(2)?.kind).toBe('taken')
    }
  })

  it('[COR-12] is refused by a living owner and by what cannot be read, which stay byte for byte', () => {
    const world = new LockWorld()
    world.run(1)
    const held = world.names.get(FILE)
    world.run(2)
    expect(world.takings.get(2)).toMatchObject({ kind: 'held', owner: { pid: 1 }, reason: 'process 1 runs' })
    expect(world.names.get(FILE)).toBe(held)
    const hostile = held!.replace(nonceOf(1), '../../../../etc/passwd0000000000')
    for (const text of ['', '{', 'null', hostile]) {
      expect(decodeOwner(text)).toBeUndefined()
      const strange = new LockWorld()
      strange.names.set(FILE, text)
      strange.run(1)
      expect(strange.takings.get(1)).toMatchObject({ kind: 'held', owner: undefined })
      expect([...strange.names]).toEqual([[FILE, text]])
    }
  })

  it('[COR-12] gives up on takeovers that lead in a circle', () => {
    const world = new LockWorld()
    world.leave(FILE, deadOwner)
    world.leave(`${FILE}.takeover-${nonceOf(deadOwner)}`, deadOwner)
    world.run(1)
    expect(world.takings.get(1)).toMatchObject({ kind: 'held', reason: expect.stringContaining('too many takeovers') })
  })

  it('[COR-12] removes nothing that is another one’s by now', () => {
    const world = new LockWorld()
    world.run(1)
    world.names.delete(FILE)
    const lost = world.holders.get(1)!
    expect(lost.isHeld()).toBe(false)
    world.run(2)
    lost.release()
    expect(world.holders.get(2)!.isHeld()).toBe(true)
  })
})
