import { isTidemarkError } from '@tidemark/core'
import { exploreCrashes } from '@tidemark/testkit/sim'
import type { CrashSubject, SimProcess } from '@tidemark/testkit/sim'
import { describe, expect, it } from 'vitest'

/** A two-step counter: data, then position. The order of the two is what the exploration has to judge. */
interface World {
  data: number
  position: number
}

function subject(order: 'data-first' | 'position-first'): CrashSubject<World> {
  const target = 3
  return {
    createWorld: () => ({ data: 0, position: 0 }),
    async live(world, process: SimProcess) {
      const server = process.guard(
        'server',
        {
          read: async () => world.position,
          write: async (value: number) => void (world.data = Math.max(world.data, value)),
          move: async (value: number) => void (world.position = value),
        },
        ['read', 'write', 'move'],
      )
      try {
        for (let position = await server.read(); position < target; position += 1) {
          if (order === 'position-first') await server.move(position + 1)
          await server.write(position + 1)
          if (order === 'data-first') await server.move(position + 1)
        }
      } catch (error) {
        if (!isTidemarkError(error, 'TM_SIM_REPLY_LOST')) throw error
      }
    },
    checkAlways(world) {
      if (world.position > world.data) throw new Error(`position ${world.position} is ahead of data ${world.data}`)
    },
    checkEnd(world) {
      if (world.data !== target || world.position !== target) throw new Error('not complete')
    },
  }
}

describe('crash points', () => {
  it('[TST-5] visits every call of a correct subject, alone and in pairs', async () => {
    const report = await exploreCrashes(subject('data-first'), { depth: 'double' })
    expect(report.callsOfCleanLife).toBe(7)
    expect(report.singleRuns).toBe(28)
    expect(report.doubleRuns).toBeGreaterThan(200)
    expect([...report.pointsByCall]).toEqual([
      ['server.read', 4],
      ['server.write', 12],
      ['server.move', 12],
    ])
  })

  it('[TST-5] finds a position that is written before its data, and names the point', async () => {
    await expect(exploreCrashes(subject('position-first'), { depth: 'single' })).rejects.toThrow(
      /life 1: crash-after at call 2 \(server\.move\): position 1 is ahead of data 0/,
    )
  })

  it('[TST-6] refuses to call a run in which nothing crashed a success', async () => {
    let worlds = 0
    const shrinking: CrashSubject<{ readonly calls: number }> = {
      createWorld: () => ({ calls: (worlds += 1) === 1 ? 3 : 1 }),
      async live(world, process) {
        const port = process.guard('port', { call: async () => undefined }, ['call'])
        for (let index = 0; index < world.calls; index += 1) await port.call().catch(() => undefined)
      },
      checkEnd: () => undefined,
    }
    await expect(exploreCrashes(shrinking, { depth: 'single' })).rejects.toThrow(/was never reached/)
  })

  it('[TST-6] reports a life that never ends', async () => {
    const endless: CrashSubject<object> = {
      createWorld: () => ({}),
      async live(_, process) {
        const port = process.guard('port', { call: async () => undefined }, ['call'])
        for (;;) {
          await port.call()
          await new Promise((resolve) => setImmediate(resolve))
        }
      },
      checkEnd: () => undefined,
    }
    await expect(exploreCrashes(endless, { depth: 'single', callsMax: 50 })).rejects.toThrow(
      /neither ended nor went on/,
    )
  })
})
