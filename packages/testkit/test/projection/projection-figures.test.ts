import type { ProjectionObserver } from '@tidemark/checkpoint'
import { describe, expect, it } from 'vitest'
import { createProjectionWorld, dispatch, topicName } from './projection-world.ts'

describe('figures of a start', () => {
  it('[CKP-47] tell how much was to be replayed, per partition and fixed, and how long it took to be ready', async () => {
    const world = createProjectionWorld()
    const topic = world.log.cluster.topic(topicName)
    for (let n = 0; n < 5; n += 1) topic.append(0, dispatch('ann', n))
    const projection = world.projection()
    const replay = (): readonly number[] => projection.status().partitions.map((each) => each.replayAtStart)
    const beganAtMs = world.log.clock.monotonicMs()
    expect(projection.status()).toMatchObject({ topic: topicName, namespace: 'p', partitions: [] })
    const release = world.log.gate.hold('readBounds')
    const starting = projection.start()
    await world.log.clock.sleep(700)
    release()
    await starting
    expect(projection.status().timeToReadyMs).toBeUndefined()
    expect(replay()).toEqual([5, 0])
    await projection.caughtUp({ deadlineMs: 60_000 })
    const took = projection.status().timeToReadyMs
    expect(took).toBe(Math.round(world.log.clock.monotonicMs() - beganAtMs))
    expect(took).toBeGreaterThanOrEqual(700)
    topic.append(1, dispatch('bob', 1))
    await world.log.clock.sleep(3_000)
    expect(world.checkpoint(1)).toBe(1n)
    expect([replay(), projection.status().timeToReadyMs]).toEqual([[5, 0], took])
    await projection.stop()
    const second = world.projection()
    await second.start()
    expect(second.status().partitions.map((each) => each.replayAtStart)).toEqual([0, 0])
    await second.stop()
  })
})

describe('observers', () => {
  class Counting implements ProjectionObserver {
    readonly #states: string[] = []
    get states(): readonly string[] {
      return this.#states
    }
    onState(state: string): void {
      this.#states.push(state)
    }
  }

  it('[CKP-47] come and go; one that throws is counted and disturbs no other', async () => {
    const world = createProjectionWorld()
    const [own, early, gone, late] = [new Counting(), new Counting(), new Counting(), new Counting()]
    const projection = world.projection({ observer: own })
    projection.observe({
      onState() {
        throw new Error('broken')
      },
    })
    projection.observe(early)
    projection.observe(early)
    const remove = projection.observe(gone)
    await projection.start()
    remove()
    remove()
    await projection.caughtUp({ deadlineMs: 60_000 })
    projection.observe(late)
    await projection.stop()
    expect(own.states).toEqual(['catching-up', 'ready', 'stopped'])
    expect(early.states).toEqual(own.states.flatMap((state) => [state, state]))
    expect(gone.states).toEqual(['catching-up'])
    expect(late.states).toEqual(['stopped'])
    expect(projection.status().counters.observerFailures).toBe(3)
  })
})
