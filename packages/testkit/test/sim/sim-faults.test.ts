import { createSimLog, createSimProcess, simErrors } from '@tidemark/testkit/sim'
import { offsetOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

const code = (wanted: string): unknown => expect.objectContaining({ code: wanted })

describe('a world asked for what no cluster does', () => {
  it('[TST-3] refuses, and stays as it is', () => {
    const { cluster } = createSimLog()
    const topic = cluster.createTopic('t', { partitions: 2 })
    topic.append(0, { value: 'a' })
    const ended = topic.begin()
    ended.commit()
    const impossible: readonly (() => void)[] = [
      () => cluster.createTopic('t'),
      () => cluster.deleteTopic('other'),
      () => cluster.broker(9),
      () => cluster.addBroker(1),
      () => cluster.removeBroker(9),
      () => topic.grow(1),
      () => topic.deleteRecordsBefore(0, 2),
      () => topic.truncate(0, 2),
      () => ended.abort(),
      () => void ended.append(0, { value: 'late' }),
    ]
    for (const attempt of impossible) expect(attempt).toThrow(code('TM_SIM_WORLD_INVALID'))
    expect(() => topic.append(2, {})).toThrow(code('TM_SIM_TOPIC_UNKNOWN'))
    expect(topic.partition(0).bounds()).toMatchObject({ low: 0n, highWatermark: 1n })
  })

  it('[TST-3] a closed log opens nothing, a closed reader describes nothing', async () => {
    const { cluster, openLog } = createSimLog()
    cluster.createTopic('t')
    const log = openLog()
    const request = { topic: 't', positions: [{ partition: 0, nextOffset: offsetOf(0) }], deadlineMs: 100 }
    const reader = await log.openReader(request)
    await log.close()
    await expect(reader.describeTopic(100)).rejects.toThrow(code('TM_SIM_CLOSED'))
    await expect(log.openReader(request)).rejects.toThrow(code('TM_SIM_CLOSED'))
    await expect(log.readBack({ topic: 't', records: [], deadlineMs: 100 })).rejects.toThrow(code('TM_SIM_CLOSED'))
  })

  it('[TST-6] the errors of an exploration name the point and the call', () => {
    const missed = simErrors.create('TM_SIM_CRASH_POINT_MISSED', { point: 'crash-after at call 7', reached: 5 })
    expect(missed.message).toBe('crash point crash-after at call 7 was never reached; the run ended after 5 calls')
    const stuck = simErrors.create('TM_SIM_LIFE_STUCK', { life: 2, callsMax: 50, lastCall: 'store.advance' })
    expect(stuck.message).toContain('life 2')
    expect(stuck.message).toContain('store.advance')
  })
})

describe('a process that dies', () => {
  const port = () => {
    const calls: number[] = []
    return { calls, call: async (value: number) => void calls.push(value) }
  }

  it('[TST-5] before a call: the world never hears of it, and nothing of the process goes on', async () => {
    const server = port()
    const process = createSimProcess({ call: 2, kind: 'crash-before' })
    const guarded = process.guard('server', server, ['call'])
    await guarded.call(1)
    let settled = 0
    for (const value of [2, 3]) void guarded.call(value).finally(() => (settled += 1))
    expect(await process.death).toEqual({ call: 2, kind: 'crash-before' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(server.calls).toEqual([1])
    expect([settled, process.dead, process.faultedCall]).toEqual([0, true, 'server.call'])
  })

  it('[TST-5] after a call: it took effect, and nobody hears so', async () => {
    const server = port()
    const process = createSimProcess({ call: 1, kind: 'crash-after' })
    let settled = 0
    void process
      .guard('server', server, ['call'])
      .call(1)
      .finally(() => (settled += 1))
    await process.death
    await new Promise((resolve) => setImmediate(resolve))
    expect([server.calls, settled]).toEqual([[1], 0])
  })

  it('[TST-5] a lost reply is an error either way, and does not say which', async () => {
    for (const [kind, applied] of [
      ['reply-lost-before', []],
      ['reply-lost-after', [1]],
    ] as const) {
      const server = port()
      const guarded = createSimProcess({ call: 1, kind }).guard('server', server, ['call'])
      await expect(guarded.call(1)).rejects.toThrow(code('TM_SIM_REPLY_LOST'))
      await expect(guarded.call(1)).resolves.toBeUndefined()
      expect(server.calls).toEqual([...applied, 1])
    }
  })

  it('[TST-5] sleepers of a killed process never wake', async () => {
    const sim = createSimLog()
    const process = createSimProcess()
    let woke = false
    void process
      .guardClock(sim.clock)
      .sleep(10)
      .then(() => (woke = true))
    process.kill()
    await sim.clock.sleep(100)
    expect(woke).toBe(false)
  })
})
