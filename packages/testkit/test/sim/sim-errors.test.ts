import { isTidemarkError } from '@tidemark/core'
import { createSimLog, exploreCrashes } from '@tidemark/testkit/sim'
import type { CrashSubject } from '@tidemark/testkit/sim'
import { describe, expect, it } from 'vitest'

async function codeOf(act: () => unknown): Promise<string> {
  try {
    await act()
  } catch (error) {
    // An exploration adds the points to what went wrong in them and keeps it as the cause.
    const origin = error instanceof Error && error.cause !== undefined ? error.cause : error
    return isTidemarkError(origin) ? origin.code : String(origin)
  }
  return 'nothing was thrown'
}

/** A subject of one port call a turn, for as many turns as its world says. */
function caller(callsOfWorld: (world: number) => number): CrashSubject<{ readonly calls: number }> {
  let worlds = 0
  return {
    createWorld: () => ({ calls: callsOfWorld((worlds += 1)) }),
    async live(world, process) {
      const port = process.guard('port', { call: async () => undefined }, ['call'])
      for (let index = 0; index < world.calls; index += 1) {
        await port.call().catch(() => undefined)
        await new Promise((resolve) => setImmediate(resolve))
      }
    },
    checkEnd: () => undefined,
  }
}

describe('the simulated world says by code what is wrong', () => {
  it('with what no real cluster would do', async () => {
    const { cluster } = createSimLog()
    const topic = cluster.createTopic('t', { partitions: 2 })
    const transaction = topic.begin()
    transaction.commit()
    expect(await codeOf(() => transaction.abort())).toBe('TM_SIM_WORLD_INVALID')
    expect(await codeOf(() => topic.grow(1))).toBe('TM_SIM_WORLD_INVALID')
    expect(await codeOf(() => cluster.createTopic('t'))).toBe('TM_SIM_WORLD_INVALID')
    expect(await codeOf(() => topic.partition(2))).toBe('TM_SIM_TOPIC_UNKNOWN')
  })

  it('with a log that was closed', async () => {
    const { cluster, ...world } = createSimLog()
    cluster.createTopic('t')
    const log = world.openLog()
    await log.close()
    const request = { topic: 't', positions: [], deadlineMs: 1_000 }
    expect(await codeOf(() => log.openReader(request))).toBe('TM_SIM_CLOSED')
    expect(await codeOf(() => log.readBack({ topic: 't', records: [], deadlineMs: 1_000 }))).toBe('TM_SIM_CLOSED')
  })

  it('[TST-6] with a crash that never came, and with a life that never ends', async () => {
    const shrinking = caller((world) => (world === 1 ? 3 : 1))
    expect(await codeOf(() => exploreCrashes(shrinking, { depth: 'single' }))).toBe('TM_SIM_CRASH_POINT_MISSED')
    const endless = caller(() => Infinity)
    expect(await codeOf(() => exploreCrashes(endless, { depth: 'single', callsMax: 20 }))).toBe('TM_SIM_LIFE_STUCK')
  })
})
