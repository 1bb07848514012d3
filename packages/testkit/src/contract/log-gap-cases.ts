import { strict as assert } from 'node:assert'
import { offsetOf } from '@tidemark/core'
import { witnessOf } from '@tidemark/log'
import type { ReadBack } from '@tidemark/log'
import type { CommittedLogWorld } from './committed-log-world.ts'
import { begin, boundsOf, logCase, offsetsOf, openAt, range, readUntil, textsOf } from './log-fixture.ts'
import type { LogCase } from './log-fixture.ts'

const none: readonly never[] = []

/** Control records, aborted and open transactions, compaction, and reading single records back. */
export const logGapCases: readonly LogCase[] = [
  logCase(
    {
      id: 'CLG-30',
      title: 'the end is reported past a control record that comes last',
      promises: ['CK-25', 'CK-27', 'A10'],
      needs: ['transactions'],
    },
    async (world) => {
      await (await begin(world, 0, range('a', 3))).commit()
      const reader = await openAt(world, await world.openLog(), 0, 0)
      const reading = await readUntil(world, reader, { ends: [4, 0] })
      assert.deepEqual(textsOf(reading.records[0]), ['a0', 'a1', 'a2'])
      assert.equal((await boundsOf(world, await world.openLog()))[0]!.highWatermark, 4n)
    },
  ),
  logCase(
    {
      id: 'CLG-31',
      title: 'aborted records never arrive, and the end is reported past them',
      promises: ['CK-29', 'A10'],
      needs: ['transactions'],
    },
    async (world) => {
      await world.append(0, range('a', 2))
      await (await begin(world, 0, range('never', 4))).abort()
      const reading = await readUntil(world, await openAt(world, await world.openLog(), 0, 0), { ends: [7, 0] })
      assert.deepEqual(textsOf(reading.records[0]), ['a0', 'a1'])
      const atTail = await readUntil(world, await openAt(world, await world.openLog(), 2, 0), { ends: [7, 0] })
      assert.deepEqual(atTail.records[0], none)
    },
  ),
  logCase(
    {
      id: 'CLG-32',
      title: 'a position on a control or an aborted record goes on at the next committed one',
      promises: ['CK-26'],
      needs: ['transactions'],
    },
    async (world) => {
      await (await begin(world, 0, range('a', 2))).commit()
      await (await begin(world, 0, range('never', 2))).abort()
      await world.append(0, range('b', 1))
      for (const position of [2, 3, 4, 5]) {
        const reading = await readUntil(world, await openAt(world, await world.openLog(), position, 0), {
          ends: [7, 0],
        })
        assert.deepEqual(textsOf(reading.records[0]), ['b0'], `from ${position}`)
      }
    },
  ),
  logCase(
    {
      id: 'CLG-33',
      title: 'an open transaction holds everything behind it back, and its commit lets it through in order',
      promises: ['CK-34', 'A10'],
      needs: ['transactions'],
    },
    async (world) => {
      await world.append(0, range('a', 2))
      const open = await begin(world, 0, range('inside', 2))
      await world.append(0, range('after', 1))
      const log = await world.openLog()
      const [bounds] = await boundsOf(world, log)
      assert.deepEqual([bounds!.low, bounds!.lastStableOffset, bounds!.highWatermark], [0n, 2n, 5n])
      const reader = await openAt(world, log, 0, 0)
      const held = await readUntil(world, reader, { ends: [2, 0] })
      assert.deepEqual(textsOf(held.records[0]), ['a0', 'a1'])
      assert.deepEqual((await readUntil(world, reader, { quietMs: 300 })).records[0], none)
      await open.commit()
      const rest = await readUntil(world, reader, { ends: [6] })
      assert.deepEqual(textsOf(rest.records[0]), ['inside0', 'inside1', 'after0'])
      const [settled] = await boundsOf(world, log)
      assert.deepEqual([settled!.lastStableOffset, settled!.highWatermark], [6n, 6n])
    },
  ),
  logCase(
    {
      id: 'CLG-34',
      title: 'an open transaction that aborts lets only what is committed through',
      promises: ['A10'],
      needs: ['transactions'],
    },
    async (world) => {
      const open = await begin(world, 0, range('never', 3))
      await world.append(0, range('after', 2))
      const reader = await openAt(world, await world.openLog(), 0, 0)
      await readUntil(world, reader, { ends: [0, 0] })
      await open.abort()
      const rest = await readUntil(world, reader, { ends: [6] })
      assert.deepEqual(textsOf(rest.records[0]), ['after0', 'after1'])
    },
  ),
  logCase(
    {
      id: 'CLG-35',
      title: 'compacted offsets are passed over without a stop',
      promises: ['CK-26'],
      needs: ['compaction'],
    },
    async (world) => {
      await world.append(0, range('a', 5))
      for (const offset of [1n, 2n]) await world.compactAway!(0, offset)
      for (const [position, expected] of [
        [0, ['a0', 'a3', 'a4']],
        [1, ['a3', 'a4']],
        [2, ['a3', 'a4']],
      ] as const) {
        const reading = await readUntil(world, await openAt(world, await world.openLog(), position, 0), {
          ends: [5, 0],
        })
        assert.deepEqual(textsOf(reading.records[0]), expected)
      }
    },
  ),
  logCase(
    { id: 'CLG-36', title: 'a record read back is the one that was delivered', promises: ['LOG-9', 'A12'] },
    async (world) => {
      await world.append(0, range('a', 3))
      await world.append(1, range('b', 2))
      const log = await world.openLog()
      const reading = await readUntil(world, await openAt(world, log, 0, 0), { ends: [3, 2] })
      const delivered = [reading.records[0]![2]!, reading.records[1]![0]!]
      const answers = await readBack(world, log, delivered)
      for (const record of delivered) {
        const answer = answers.find((each) => each.partition === record.partition)
        assert.equal(answer?.kind, 'record')
        if (answer?.kind === 'record') assert.deepEqual(answer.witness, witnessOf(record))
      }
    },
  ),
  logCase(
    { id: 'CLG-37', title: 'reading back beyond the end finds nothing, and nothing to read back is no question' },
    async (world) => {
      await world.append(0, range('a', 2))
      const log = await world.openLog()
      const [answer] = await readBack(world, log, [{ partition: 0, offset: 2n }])
      assert.ok(answer?.kind === 'absent' || answer?.kind === 'unreadable', answer?.kind)
      assert.deepEqual(await readBack(world, log, []), none)
    },
  ),
  logCase(
    {
      id: 'CLG-38',
      title: 'reading back a control or an aborted record finds nothing there',
      promises: ['LOG-9'],
      needs: ['transactions'],
    },
    async (world) => {
      await (await begin(world, 0, range('a', 1))).commit()
      await (await begin(world, 0, range('never', 1))).abort()
      await world.append(0, range('b', 1))
      const log = await world.openLog()
      for (const [offset, kind] of [
        [0n, 'record'],
        [1n, 'absent'],
        [2n, 'absent'],
        [3n, 'absent'],
        [4n, 'record'],
      ] as const) {
        const [answer] = await readBack(world, log, [{ partition: 0, offset }])
        assert.equal(answer?.kind, kind, `offset ${offset}`)
      }
    },
  ),
  logCase(
    { id: 'CLG-39', title: 'reading back below the low end never brings a record', needs: ['retention'] },
    async (world) => {
      await world.append(0, range('a', 5))
      await world.deleteRecordsBefore!(0, 3n)
      const log = await world.openLog()
      const [gone] = await readBack(world, log, [{ partition: 0, offset: 1n }])
      assert.notEqual(gone?.kind, 'record')
      const [kept] = await readBack(world, log, [{ partition: 0, offset: 3n }])
      assert.equal(kept?.kind, 'record')
    },
  ),
  logCase(
    {
      id: 'CLG-40',
      title: 'after a truncation another record, or none, is read back at the same offset',
      promises: ['LOG-9', 'A12'],
      needs: ['truncation'],
    },
    async (world) => {
      await world.append(0, range('old', 6))
      const log = await world.openLog()
      const { records } = await readUntil(world, await openAt(world, log, 0, 0), { ends: [6, 0] })
      const last = records[0]![5]!
      await world.truncate!(0, 4n)
      assert.notEqual((await readBack(world, log, [last]))[0]?.kind, 'record')
      await world.append(0, range('new', 4))
      const [answer] = await readBack(world, log, [last])
      assert.equal(answer?.kind, 'record')
      if (answer?.kind === 'record') assert.notEqual(answer.witness.digest, witnessOf(last).digest)
    },
  ),
  logCase(
    {
      id: 'CLG-41',
      title: 'a truncation below the position is a failure of the reader or shows in the bounds',
      promises: ['A12'],
      needs: ['truncation'],
    },
    async (world) => {
      await world.append(0, range('old', 6))
      const log = await world.openLog()
      const reader = await openAt(world, log, 0, 0)
      await readUntil(world, reader, { ends: [6, 0] })
      await world.truncate!(0, 2n)
      assert.equal((await boundsOf(world, log))[0]!.highWatermark, 2n)
      const reading = await readUntil(world, reader, { quietMs: 500 })
      assert.deepEqual(offsetsOf(reading.records[0]), none)
    },
  ),
]

async function readBack(
  world: CommittedLogWorld,
  log: Awaited<ReturnType<CommittedLogWorld['openLog']>>,
  records: readonly { readonly partition: number; readonly offset: bigint }[],
): Promise<readonly ReadBack[]> {
  const request = records.map(({ partition, offset }) => ({ partition, offset: offsetOf(offset) }))
  const answers = await log.readBack({ topic: world.topic, records: request, deadlineMs: world.deadlineMs })
  assert.equal(answers.length, records.length, 'one answer per question')
  return answers
}
