import type { CommittedLog } from '@tidemark/log'
import { createTransactionalMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import { describe, expect, it } from 'vitest'
import { createProjectionWorld, dispatch, projectDispatch, topicName } from './projection-world.ts'

describe('what the host brings', () => {
  it('[CKP-7] [A3] data where a first transactional start needs none: refused, and nothing is created', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const { server, chooser } = world
    server.setField('left-over', 'field', 'value')
    const before = server.snapshot()
    const store = createTransactionalMemoryProjectionStore({
      namespace: 'p',
      server,
      nonce: () => chooser.hex(32),
      isEmpty: (readValue) => readValue('left-over').kind === 'absent',
    })
    const started = await world.projection({ store, project: projectDispatch }).start()
    expect(started).toMatchObject({ kind: 'refused', refusals: [{ code: 'DATA_NOT_EMPTY' }] })
    const created = [...server.snapshot().keys()].filter((key) => !before.has(key))
    expect(created.filter((key) => key === 'p:meta' || key.startsWith('p:checkpoint:'))).toEqual([])
  })

  it('a port that rejects where it must answer: dirty as a fault inside, and nothing more is applied', async () => {
    const world = createProjectionWorld({ partitions: 1 })
    const topic = world.log.cluster.topic(topicName)
    topic.append(0, dispatch('ann', 1))
    let isBroken = false
    const log = world.log.openLog()
    const broken: CommittedLog = {
      ...log,
      inspector: {
        surveyIdentity: (...asked) => log.inspector.surveyIdentity(...asked),
        readSettings: (...asked) => log.inspector.readSettings(...asked),
        readBounds: (...asked) =>
          isBroken ? Promise.reject(new Error('not an answer')) : log.inspector.readBounds(...asked),
      },
    }
    const projection = world.projection({ log: broken })
    expect((await projection.start()).kind).toBe('started')
    expect((await projection.caughtUp({ deadlineMs: 10_000 })).kind).toBe('ready')
    isBroken = true
    const ended = await projection.ended()
    expect(ended).toMatchObject({ kind: 'dirty', reason: { code: 'INTERNAL' } })
    topic.append(0, dispatch('ann', 2))
    await world.log.clock.sleep(5_000)
    expect(world.checkpoint(0)).toBe(1n)
    expect(projection.status().ready).toBe(false)
    await projection.stop()
  })
})
