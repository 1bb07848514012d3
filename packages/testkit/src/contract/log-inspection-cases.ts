import { strict as assert } from 'node:assert'
import { isCanonicalTopicId, isTidemarkError, offsetOf } from '@tidemark/core'
import { boundsFault } from '@tidemark/log'
import type { CommittedLogWorld } from './committed-log-world.ts'
import {
  boundsOf,
  logCase,
  openAt,
  provenIdentity,
  range,
  readUntil,
  survey,
  textsOf,
  withinDeadline,
} from './log-fixture.ts'
import type { LogCase } from './log-fixture.ts'

/** What the inspector and the reader's own client say of a topic. */
export const logInspectionCases: readonly LogCase[] = [
  logCase(
    { id: 'CLG-50', title: 'identity is proven, complete, and the same from another client', promises: ['LOG-2'] },
    async (world) => {
      const identity = await provenIdentity(world, await world.openLog())
      assert.equal(identity.topic, world.topic)
      assert.equal(identity.partitionCount, 2)
      assert.ok(isCanonicalTopicId(identity.topicId))
      assert.notEqual(identity.clusterId, '')
      const again = await survey(world, await world.openLog(), identity)
      assert.deepEqual(again, { kind: 'proven', identity })
    },
  ),
  logCase({ id: 'CLG-51', title: "the reader's own client agrees with the brokers" }, async (world) => {
    const log = await world.openLog()
    const identity = await provenIdentity(world, log)
    const reader = await openAt(world, log, 0, 0)
    const statement = await withinDeadline(world, 'describing', () => reader.describeTopic(world.deadlineMs))
    assert.deepEqual(statement, { kind: 'described', topicId: identity.topicId, partitionCount: 2 })
  }),
  logCase({ id: 'CLG-52', title: 'bounds name every partition once and are in order' }, async (world) => {
    await world.append(1, range('b', 3))
    const log = await world.openLog()
    const bounds = await boundsOf(world, log)
    assert.equal(boundsFault(bounds, 2), undefined)
    const numbers = bounds.map(({ low, lastStableOffset, highWatermark }) => [low, lastStableOffset, highWatermark])
    assert.deepEqual(numbers, [
      [0n, 0n, 0n],
      [0n, 3n, 3n],
    ])
  }),
  logCase(
    { id: 'CLG-53', title: 'bounds follow retention', promises: ['CK-30'], needs: ['retention'] },
    async (world) => {
      await world.append(0, range('a', 5))
      await world.deleteRecordsBefore!(0, 2n)
      const log = await world.openLog()
      assert.equal((await boundsOf(world, log))[0]!.low, 2n)
      await world.deleteRecordsBefore!(0, 5n)
      const [emptied] = await boundsOf(world, log)
      assert.deepEqual([emptied!.low, emptied!.lastStableOffset, emptied!.highWatermark], [5n, 5n, 5n])
    },
  ),
  logCase(
    { id: 'CLG-54', title: 'settings say how long records are kept and whether they are compacted' },
    async (world) => {
      const { inspector } = await world.openLog()
      const reading = await inspector.readSettings(world.topic, { deadlineMs: world.deadlineMs })
      assert.equal(reading.kind, 'settings')
      if (reading.kind !== 'settings') return
      assert.ok(reading.settings.retentionMs >= -1n)
      assert.equal(reading.settings.compacted, reading.settings.cleanupPolicy.includes('compact'))
    },
  ),
  logCase(
    { id: 'CLG-55', title: 'an unknown topic is answered by values, not by rejections, within the deadline' },
    async (world) => {
      const { inspector } = await world.openLog()
      const topic = `${world.topic}-nowhere`
      const options = { deadlineMs: world.deadlineMs }
      const found = await answered(world, () => inspector.surveyIdentity(topic, options))
      assert.ok(found.answers.length > 0)
      for (const { statement } of found.answers) {
        assert.equal(statement.kind === 'no-answer' && statement.reason, 'unknown-topic')
      }
      const bounds = await answered(world, () => inspector.readBounds(topic, 1, options))
      assert.equal(bounds.kind, 'unreadable')
      const settings = await answered(world, () => inspector.readSettings(topic, options))
      assert.equal(settings.kind, 'unreadable')
    },
  ),
  logCase(
    { id: 'CLG-56', title: 'bounds of a partition that does not exist are unreadable, not made up' },
    async (world) => {
      const { inspector } = await world.openLog()
      const reading = await withinDeadline(world, 'bounds', () =>
        inspector.readBounds(world.topic, 3, { deadlineMs: world.deadlineMs }),
      )
      assert.equal(reading.kind, 'unreadable')
    },
  ),
  logCase(
    {
      id: 'CLG-57',
      title: 'a recreated topic contradicts the identity held before, for an open log and for a new one',
      promises: ['LOG-3', 'CK-03', 'A5'],
      needs: ['recreation'],
    },
    async (world) => {
      await world.append(0, range('old', 3))
      const log = await world.openLog()
      const held = await provenIdentity(world, log)
      await world.recreate!()
      for (const each of [log, await world.openLog()]) {
        const verdict = await survey(world, each, held)
        assert.equal(verdict.kind, 'mismatch')
        if (verdict.kind !== 'mismatch') return
        assert.deepEqual(
          verdict.differences.map(({ field }) => field),
          ['topicId'],
        )
      }
      const fresh = await provenIdentity(world, log)
      assert.notEqual(fresh.topicId, held.topicId)
      assert.equal((await boundsOf(world, log))[0]!.highWatermark, 0n)
    },
  ),
  logCase(
    {
      id: 'CLG-58',
      title: 'a reader pinned to an identity fails when the topic is recreated, and brings nothing of the new one',
      promises: ['A5'],
      needs: ['recreation', 'pinned-identity'],
    },
    async (world) => {
      await world.append(0, range('old', 3))
      const reader = await openAt(world, await world.openLog(), 0, 0)
      await readUntil(world, reader, { ends: [3, 0] })
      await world.recreate!()
      await world.append(0, range('new', 9))
      const reading = await readUntil(world, reader, { ends: [9] })
      assert.notEqual(reading.failure, undefined)
      assert.deepEqual(textsOf(reading.records[0]), [])
    },
  ),
  logCase(
    {
      id: 'CLG-59',
      title: 'a reader that fetches by id says of every batch under which id it was served',
      promises: ['LOG-12'],
      needs: ['pinned-identity'],
    },
    async (world) => {
      await world.append(0, range('a', 3))
      const log = await world.openLog()
      const identity = await provenIdentity(world, log)
      const positions = [0, 1].map((partition) => ({ partition, nextOffset: offsetOf(0) }))
      const reader = await log.openReader({ topic: world.topic, positions, identity, deadlineMs: world.deadlineMs })
      const untilMs = performance.now() + world.deadlineMs
      const ends = new Set<number>()
      while (ends.size < 2 && performance.now() < untilMs) {
        const result = await reader.poll({ recordsMax: 2, waitMs: 50 })
        assert.equal(result.kind, 'fetched')
        if (result.kind !== 'fetched') return
        for (const { partition, servedTopicId, endOffset } of result.batches) {
          assert.equal(servedTopicId, identity.topicId)
          if (endOffset !== undefined) ends.add(partition)
        }
      }
      assert.equal(ends.size, 2)
    },
  ),
  logCase(
    {
      id: 'CLG-60',
      title: 'a reader opened for an identity that is gone brings nothing of the topic that has its name',
      promises: ['A5', 'CK-03'],
      needs: ['recreation', 'pinned-identity'],
    },
    async (world) => {
      await world.append(0, range('old', 3))
      const log = await world.openLog()
      const identity = await provenIdentity(world, log)
      await world.recreate!()
      await world.append(0, range('new', 9))
      const positions = [0, 1].map((partition) => ({ partition, nextOffset: offsetOf(0) }))
      const request = { topic: world.topic, identity, deadlineMs: world.deadlineMs }
      const [found] = await log
        .readBack({ ...request, records: [{ partition: 0, offset: offsetOf(1) }] })
        .catch(() => [])
      assert.notEqual(found?.kind, 'record')
      const reader = await log.openReader({ ...request, positions }).catch((error: unknown) => {
        assert.ok(isTidemarkError(error), String(error))
      })
      if (reader === undefined) return
      const reading = await readUntil(world, reader, { ends: [9] })
      assert.notEqual(reading.failure, undefined)
      assert.deepEqual(textsOf(reading.records[0]), [])
    },
  ),
]

/** What an inspection answers; a rejection breaks the law that conditions of the cluster are values. */
function answered<T>(world: CommittedLogWorld, inspect: () => Promise<T>): Promise<T> {
  return withinDeadline(world, 'inspecting', inspect).catch((error: unknown) =>
    assert.fail(`an inspection rejected: ${String(error)}`),
  )
}
