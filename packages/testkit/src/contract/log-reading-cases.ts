import { strict as assert } from 'node:assert'
import { isTidemarkError, offsetOf } from '@tidemark/core'
import {
  boundsOf,
  logCase,
  offsetsOf,
  openAt,
  range,
  readUntil,
  textsOf,
  valued,
  withinDeadline,
} from './log-fixture.ts'
import type { LogCase } from './log-fixture.ts'

const none: readonly never[] = []

/** Reading committed records from explicit positions. */
export const logReadingCases: readonly LogCase[] = [
  logCase(
    { id: 'CLG-01', title: 'a reader starts exactly at the positions it was given', promises: ['CK-37'] },
    async (world) => {
      await world.append(0, range('a', 6))
      await world.append(1, range('b', 4))
      const reader = await openAt(world, await world.openLog(), 3, 1)
      const reading = await readUntil(world, reader, { ends: [6, 4] })
      assert.deepEqual(offsetsOf(reading.records[0]), [3, 4, 5])
      assert.deepEqual(textsOf(reading.records[0]), ['a3', 'a4', 'a5'])
      assert.deepEqual(textsOf(reading.records[1]), ['b1', 'b2', 'b3'])
    },
  ),
  logCase(
    { id: 'CLG-02', title: 'everything arrives once and in order, however little is asked for at a time' },
    async (world) => {
      await world.append(0, range('a', 40))
      await world.append(1, range('b', 25))
      for (const recordsMax of [1, 7, 500]) {
        const log = await world.openLog()
        const reading = await readUntil(world, await openAt(world, log, 0, 0), { ends: [40, 25], recordsMax })
        assert.deepEqual(
          textsOf(reading.records[0]),
          range('a', 40).map(({ value }) => value),
        )
        assert.deepEqual(
          textsOf(reading.records[1]),
          range('b', 25).map(({ value }) => value),
        )
        await log.close()
      }
    },
  ),
  logCase(
    {
      id: 'CLG-03',
      title: 'an empty partition and a position at the end report their end without a record',
      promises: ['A2'],
    },
    async (world) => {
      await world.append(0, range('a', 3))
      const reader = await openAt(world, await world.openLog(), 3, 0)
      const reading = await readUntil(world, reader, { ends: [3, 0] })
      assert.deepEqual(reading.records, [none, none])
    },
  ),
  logCase(
    {
      id: 'CLG-04',
      title: 'records appended later arrive in the same reader, and the new end is reported',
      promises: ['A6'],
    },
    async (world) => {
      const reader = await openAt(world, await world.openLog(), 0, 0)
      await readUntil(world, reader, { ends: [0, 0] })
      await world.append(0, range('a', 2))
      assert.deepEqual(textsOf((await readUntil(world, reader, { ends: [2] })).records[0]), ['a0', 'a1'])
      await world.append(0, valued('a2'))
      assert.deepEqual(textsOf((await readUntil(world, reader, { ends: [3] })).records[0]), ['a2'])
    },
  ),
  logCase(
    { id: 'CLG-05', title: 'an idle poll waits about as long as it was told and brings nothing' },
    async (world) => {
      const reader = await openAt(world, await world.openLog(), 0, 0)
      await readUntil(world, reader, { ends: [0, 0] })
      const startedMs = performance.now()
      const result = await reader.poll({ recordsMax: 10, waitMs: 200 })
      assert.deepEqual(result, { kind: 'fetched', batches: [] })
      assert.ok(performance.now() - startedMs <= 200 + world.slackMs)
    },
  ),
  logCase(
    { id: 'CLG-06', title: 'keys, values and timestamps come back byte for byte, null apart from empty' },
    async (world) => {
      const binary = Uint8Array.from([0, 255, 1, 128, 10])
      const timestampMs = 1_700_000_000_123
      await world.append(0, [
        { key: null, value: null, timestampMs },
        { key: '', value: '', timestampMs },
        { key: binary, value: binary, timestampMs },
        { key: 'k:{}\n', value: '💧', timestampMs },
      ])
      const { records } = await readUntil(world, await openAt(world, await world.openLog(), 0, 0), { ends: [4] })
      const seen = records[0]!.map(({ key, value }) => [
        key === null ? null : [...key],
        value === null ? null : [...value],
      ])
      const text = (of: string): number[] => [...new TextEncoder().encode(of)]
      assert.deepEqual(seen, [
        [null, null],
        [[], []],
        [[...binary], [...binary]],
        [text('k:{}\n'), text('💧')],
      ])
      assert.deepEqual(
        records[0]!.map((record) => record.timestampMs),
        Array.from({ length: 4 }, () => timestampMs),
      )
      for (const record of records[0]!) assert.ok(Number.isInteger(record.leaderEpoch) && record.leaderEpoch >= -1)
    },
  ),
  logCase({ id: 'CLG-07', title: 'headers keep their order and may repeat', needs: ['headers'] }, async (world) => {
    const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
    const headers = [
      { name: 'a', value: bytes('1') },
      { name: 'b', value: bytes('') },
      { name: 'a', value: bytes('2') },
    ]
    await world.append(0, [{ value: 'x', headers }, { value: 'y' }])
    const { records } = await readUntil(world, await openAt(world, await world.openLog(), 0, 0), { ends: [2] })
    const seen = records[0]!.map((record) => record.headers.map(({ name, value }) => [name, [...(value ?? [])]]))
    assert.deepEqual(seen, [headers.map(({ name, value }) => [name, [...value]]), []])
  }),
  logCase({ id: 'CLG-08', title: 'two readers keep positions of their own' }, async (world) => {
    await world.append(0, range('a', 5))
    const [one, two] = [
      await openAt(world, await world.openLog(), 0, 0),
      await openAt(world, await world.openLog(), 4, 0),
    ]
    assert.deepEqual(textsOf((await readUntil(world, two, { ends: [5] })).records[0]), ['a4'])
    assert.equal((await readUntil(world, one, { ends: [5] })).records[0]!.length, 5)
  }),
  logCase({ id: 'CLG-09', title: 'a paused partition brings nothing and goes on where it stood' }, async (world) => {
    await world.append(0, range('a', 4))
    const reader = await openAt(world, await world.openLog(), 0, 0)
    const before = await readUntil(world, reader, { ends: [4, 0] })
    reader.pause([0])
    await world.append(0, range('later', 3))
    await world.append(1, range('b', 2))
    const during = await readUntil(world, reader, { quietMs: 400 })
    assert.deepEqual(during.records[0], none)
    assert.deepEqual(textsOf(during.records[1]), ['b0', 'b1'])
    reader.resume([0])
    const after = await readUntil(world, reader, { ends: [7] })
    assert.deepEqual(offsetsOf([...before.records[0]!, ...after.records[0]!]), [0, 1, 2, 3, 4, 5, 6])
  }),
  logCase({ id: 'CLG-10', title: 'pausing with records already fetched loses and repeats none' }, async (world) => {
    await world.append(0, range('a', 60))
    const reader = await openAt(world, await world.openLog(), 0, 0)
    const seen: number[] = []
    const untilMs = performance.now() + 2 * world.deadlineMs
    for (let round = 0; seen.length < 60 && performance.now() < untilMs; round += 1) {
      const result = await reader.poll({ recordsMax: 5, waitMs: 20 })
      assert.equal(result.kind, 'fetched')
      if (result.kind !== 'fetched') return
      for (const batch of result.batches) if (batch.partition === 0) seen.push(...offsetsOf(batch.records))
      if (round % 2 === 0) reader.pause([0])
      else reader.resume([0])
    }
    assert.deepEqual(
      seen,
      Array.from({ length: 60 }, (_, index) => index),
    )
  }),
  logCase(
    { id: 'CLG-11', title: 'a position above the end is a failure, never a reset', promises: ['CK-17', 'CK-31'] },
    async (world) => {
      await world.append(0, range('a', 5))
      const reader = await openAt(world, await world.openLog(), 50, 0)
      const reading = await readUntil(world, reader, { ends: [1] })
      assert.equal(reading.failure, 'out-of-range')
      assert.deepEqual(reading.records[0], none)
      const again = await reader.poll({ recordsMax: 10, waitMs: 50 })
      assert.equal(again.kind, 'failed', 'a failed reader is finished')
    },
  ),
  logCase(
    {
      id: 'CLG-12',
      title: 'a position below the low end is a failure, never a reset',
      promises: ['CK-50', 'A11'],
      needs: ['retention'],
    },
    async (world) => {
      await world.append(0, range('a', 10))
      await world.deleteRecordsBefore!(0, 6n)
      const reading = await readUntil(world, await openAt(world, await world.openLog(), 3, 0), { ends: [10, 0] })
      assert.equal(reading.failure, 'out-of-range')
      assert.deepEqual(reading.records[0], none)
      const fine = await readUntil(world, await openAt(world, await world.openLog(), 6, 0), { ends: [10, 0] })
      assert.deepEqual(offsetsOf(fine.records[0]), [6, 7, 8, 9])
    },
  ),
  logCase(
    {
      id: 'CLG-13',
      title: 'retention that overtakes a running reader is a failure',
      promises: ['CK-55', 'A11'],
      needs: ['retention'],
    },
    async (world) => {
      await world.append(0, range('a', 4))
      const reader = await openAt(world, await world.openLog(), 0, 0)
      await readUntil(world, reader, { ends: [4, 0] })
      reader.pause([0])
      await readUntil(world, reader, { quietMs: 300 })
      await world.append(0, range('b', 6))
      await world.deleteRecordsBefore!(0, 8n)
      reader.resume([0])
      const reading = await readUntil(world, reader, { ends: [10] })
      // A client may have fetched records 4 to 7 before they went: those are committed records like any other.
      assert.equal(reading.failure, 'out-of-range')
      assert.ok(!offsetsOf(reading.records[0]).some((offset) => offset >= 8))
    },
  ),
  logCase(
    { id: 'CLG-14', title: 'an unknown topic or partition is a typed error within the deadline' },
    async (world) => {
      const log = await world.openLog()
      const unknown = [
        { topic: `${world.topic}-nowhere`, partition: 0 },
        { topic: world.topic, partition: 99 },
      ]
      for (const { topic, partition } of unknown) {
        const positions = [{ partition, nextOffset: offsetOf(0) }]
        const outcome = await withinDeadline(world, `opening ${topic}/${partition}`, () =>
          log.openReader({ topic, positions, deadlineMs: world.deadlineMs }).then(
            () => 'opened',
            (error: unknown) => (isTidemarkError(error) ? 'typed' : `untyped: ${String(error)}`),
          ),
        )
        assert.equal(outcome, 'typed')
      }
    },
  ),
  logCase({ id: 'CLG-15', title: 'closing is final, harmless when repeated, and answered by polls' }, async (world) => {
    const log = await world.openLog()
    const reader = await openAt(world, log, 0, 0)
    await reader.close()
    await reader.close()
    const result = await reader.poll({ recordsMax: 1, waitMs: 50 })
    assert.equal(result.kind === 'failed' && result.failure.reason, 'closed')
    const other = await openAt(world, log, 0, 0)
    await log.close()
    await log.close()
    const late = await other.poll({ recordsMax: 1, waitMs: 50 })
    assert.equal(late.kind === 'failed' && late.failure.reason, 'closed')
    await assert.rejects(openAt(world, log, 0, 0))
  }),
  logCase({ id: 'CLG-16', title: 'closing ends a poll that waits' }, async (world) => {
    const reader = await openAt(world, await world.openLog(), 0, 0)
    await readUntil(world, reader, { ends: [0, 0] })
    const waiting = reader.poll({ recordsMax: 1, waitMs: world.deadlineMs })
    await new Promise((resolve) => setTimeout(resolve, 50))
    const result = await withinDeadline(world, 'the poll', async () => {
      await reader.close()
      return waiting
    })
    assert.ok(result.kind === 'failed' || result.batches.length === 0)
    assert.equal((await boundsOf(world, await world.openLog())).length, 2)
  }),
]
