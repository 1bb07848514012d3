import { readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createEmbeddedLog, createEmbeddedProducer } from '@tidemark/embedded'
import { offsetOf } from '@tidemark/core'
import { judgeSurvey, witnessOf } from '@tidemark/log'
import { temporaryDirectory } from '../temporary-directory.ts'
import { bounds, drain, inspectOptions, producing, readerAt, reading, text, texts } from './log-harness.ts'

function segmentFiles(directory: string): readonly string[] {
  const records = join(directory, 'records')
  const partition = join(records, readdirSync(records)[0]!, '0')
  const names = readdirSync(partition).filter((name) => name.endsWith('.segment'))
  return names.sort().map((name) => join(partition, name))
}

describe('the embedded log', () => {
  it('[EMB-10] what was appended is read back with keys, headers, nulls and times, and the end is told once', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    const headers = [
      { name: 'a', value: Buffer.from('1') },
      { name: 'a', value: null },
    ]
    const appended = await producer.append('t', [
      { partition: 0, key: Buffer.from('k'), value: Buffer.from('v'), headers, timestampMs: 123 },
      { partition: 0, value: null, timestampMs: -1 },
      { partition: 0, key: Buffer.alloc(0), value: Buffer.alloc(0), timestampMs: 2 ** 52 },
    ])
    expect(appended.map(({ offset }) => offset)).toEqual([0n, 1n, 2n])
    const log = reading(directory)
    const reader = await readerAt(log, 0)
    const first = await reader.poll({ recordsMax: 2, waitMs: 0 })
    expect(first).toMatchObject({ kind: 'fetched', batches: [{ partition: 0 }] })
    const records = first.kind === 'fetched' ? first.batches[0]!.records : []
    expect(records).toMatchObject([
      {
        partition: 0,
        offset: 0n,
        leaderEpoch: 0,
        timestampMs: 123,
        headers: [{ name: 'a' }, { name: 'a', value: null }],
      },
      { offset: 1n, timestampMs: -1, key: null, value: null, headers: [] },
    ])
    expect(Buffer.from(records[0]!.key!).toString()).toBe('k')
    expect(Buffer.from(records[0]!.headers[0]!.value!).toString()).toBe('1')
    const second = await reader.poll({ recordsMax: 10, waitMs: 0 })
    expect(second).toMatchObject({
      kind: 'fetched',
      batches: [{ endOffset: 3n, records: [{ offset: 2n, timestampMs: 2 ** 52 }] }],
    })
    expect(await reader.poll({ recordsMax: 10, waitMs: 5 })).toEqual({ kind: 'fetched', batches: [] })
    await log.close()
    await producer.close()
  })

  it('[EMB-10] a waiting poll sees records of another process when they are appended', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    const log = reading(directory)
    const reader = await readerAt(log, 0)
    expect((await drain(reader)).ends).toEqual(new Map([[0, 0n]]))
    const waiting = drain(reader)
    await producer.append('t', texts(0, 'late'))
    expect(await waiting).toMatchObject({ records: ['0:0=late'], ends: new Map([[0, 1n]]) })
    await log.close()
    await producer.close()
  })

  it('[EMB-11] the survey proves cluster id, topic id and partition count; settings are reported', async () => {
    const directory = temporaryDirectory()
    const producer = await createEmbeddedProducer({ directory, durability: 'server' })
    const settings = { partitionCount: 3, retentionMs: 60_000n, cleanupPolicy: 'compact' } as const
    const identity = await producer.createTopic('t', settings)
    const log = reading(directory)
    const survey = await log.inspector.surveyIdentity('t', inspectOptions)
    expect(judgeSurvey(survey, undefined)).toEqual({ kind: 'proven', identity })
    expect(identity.clusterId).toBe(producer.clusterId)
    expect(await log.inspector.readSettings('t', inspectOptions)).toEqual({
      kind: 'settings',
      settings: { retentionMs: 60_000n, cleanupPolicy: 'compact', compacted: true },
    })
    const unknown = await log.inspector.surveyIdentity('nope', inspectOptions)
    expect(judgeSurvey(unknown, undefined)).toMatchObject({ kind: 'unproven', reason: 'unknown-topic' })
    const nowhere = createEmbeddedLog({ directory: join(directory, 'nowhere') })
    const missing = await nowhere.inspector.surveyIdentity('t', inspectOptions)
    expect(judgeSurvey(missing, undefined)).toMatchObject({ kind: 'unproven', reason: 'unreachable' })
    expect(await nowhere.inspector.readBounds('t', 1, inspectOptions)).toMatchObject({ kind: 'unreadable' })
    expect(await nowhere.inspector.readSettings('t', inspectOptions)).toMatchObject({ kind: 'unreadable' })
    const request = { topic: 't', positions: [], deadlineMs: 1_000 }
    await expect(nowhere.openReader(request)).rejects.toMatchObject({ code: 'TM_EMBEDDED_LOG_MISSING' })
    await expect(log.openReader({ ...request, topic: 'nope' })).rejects.toMatchObject({
      code: 'TM_EMBEDDED_TOPIC_UNKNOWN',
    })
    await producer.close()
  })

  it('[EMB-11] damaged files are told from ones that are not there', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    await producer.append('t', texts(0, 'a'))
    await producer.close()
    const log = reading(directory)
    const boundsOf = (count: number) => log.inspector.readBounds('t', count, inspectOptions)
    const whole = await boundsOf(1)
    const file = join(segmentFiles(directory)[0]!, '../bounds')
    const bytes = readFileSync(file)
    writeFileSync(file, Buffer.alloc(bytes.length, 1))
    expect(await boundsOf(1)).toMatchObject({ kind: 'unreadable', partition: 0, reason: 'damaged' })
    rmSync(file)
    expect(await boundsOf(1)).toMatchObject({ kind: 'unreadable', partition: 0, reason: 'damaged' })
    writeFileSync(file, bytes)
    expect(await boundsOf(1)).toEqual(whole)
    // A partition that the topic does not have is nothing damaged.
    const beyond = await boundsOf(2)
    expect(beyond).toMatchObject({ kind: 'unreadable', partition: 1 })
    expect(beyond).not.toHaveProperty('reason')
    const topicFile = join(directory, 'topics', 't.json')
    writeFileSync(topicFile, readFileSync(topicFile, 'utf8').slice(0, -9))
    const survey = await log.inspector.surveyIdentity('t', inspectOptions)
    expect(judgeSurvey(survey, undefined)).toMatchObject({ kind: 'unproven', reason: 'damaged' })
    expect(await boundsOf(1)).toMatchObject({ kind: 'unreadable', reason: 'damaged' })
    const request = { topic: 't', records: [{ partition: 0, offset: offsetOf(0) }], deadlineMs: 5_000 }
    expect(await log.readBack(request)).toMatchObject([{ kind: 'unreadable', reason: 'damaged' }])
    await log.close()
  })

  it('[EMB-12] [A5] a topic recreated under a live reader: the survey tells the new id, the reader fails, delivers nothing of it', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    await producer.append('t', texts(0, 'old0', 'old1'))
    const log = reading(directory)
    const held = judgeSurvey(await log.inspector.surveyIdentity('t', inspectOptions), undefined)
    if (held.kind !== 'proven') throw new Error('the identity must be proven first')
    const reader = await readerAt(log, 0)
    await drain(reader)
    await producer.recreateTopic('t')
    await producer.append('t', texts(0, 'new0', 'new1', 'new2'))
    expect(await drain(reader)).toMatchObject({ records: [], failure: { reason: 'unknown-topic' } })
    // Once failed, always failed.
    expect(await reader.poll({ recordsMax: 1, waitMs: 0 })).toMatchObject({ kind: 'failed' })
    const survey = await log.inspector.surveyIdentity('t', inspectOptions)
    const verdict = judgeSurvey(survey, held.identity, await reader.describeTopic(1_000))
    expect(verdict).toMatchObject({ kind: 'mismatch', differences: [{ field: 'topicId' }] })
    await producer.deleteTopic('t')
    expect(judgeSurvey(await log.inspector.surveyIdentity('t', inspectOptions), held.identity)).toMatchObject({
      kind: 'unproven',
      reason: 'unknown-topic',
    })
    await log.close()
    await producer.close()
  })

  it('[EMB-12] a directory emptied or replaced under a live reader ends it', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    await producer.append('t', texts(0, 'a'))
    await producer.close()
    const log = reading(directory)
    const readers = [await readerAt(log, 0), await readerAt(log, 0)]
    await drain(readers[0]!)
    rmSync(directory, { recursive: true })
    expect(await drain(readers[0]!)).toMatchObject({ records: [], failure: { reason: 'unknown-topic' } })
    const other = await producing(directory)
    await other.append('t', texts(0, 'other', 'other'))
    expect(await drain(readers[1]!)).toMatchObject({ records: [], failure: { reason: 'unknown-topic' } })
    await log.close()
    await other.close()
  })

  it('[EMB-13] a position outside the log fails at the first poll, below and above', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    await producer.append('t', texts(0, 'a', 'b', 'c'))
    await producer.deleteRecordsBefore('t', 0, offsetOf(2))
    const log = reading(directory)
    expect(await drain(await readerAt(log, 1))).toMatchObject({ failure: { reason: 'out-of-range', partition: 0 } })
    expect(await drain(await readerAt(log, 4))).toMatchObject({ failure: { reason: 'out-of-range', partition: 0 } })
    expect(await drain(await readerAt(log, 2))).toMatchObject({ records: ['0:2=c'], failure: undefined })
    expect(await drain(await readerAt(log, 3))).toMatchObject({ records: [], ends: new Map([[0, 3n]]) })
    await log.close()
    await producer.close()
  })

  it('[EMB-13] retention that overtakes a paused reader ends it at its next poll', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory, { segmentBytesMax: 1024 })
    for (let turn = 0; turn < 20; turn += 1) await producer.append('t', texts(0, 'x'.repeat(200)))
    expect(segmentFiles(directory).length).toBeGreaterThan(3)
    const log = reading(directory)
    const reader = await readerAt(log, 0)
    await reader.poll({ recordsMax: 1, waitMs: 0 })
    reader.pause([0])
    await producer.deleteRecordsBefore('t', 0, offsetOf(15))
    expect(await reader.poll({ recordsMax: 1, waitMs: 0 })).toEqual({ kind: 'fetched', batches: [] })
    reader.resume([0])
    expect(await drain(reader)).toMatchObject({ failure: { reason: 'out-of-range' } })
    expect(await bounds(log)).toMatchObject({ low: 15n, highWatermark: 20n })
    expect(segmentFiles(directory).length).toBeLessThan(3)
    expect((await drain(await readerAt(log, 15))).records).toHaveLength(5)
    await producer.deleteRecordsBefore('t', 0, offsetOf(20))
    await producer.close()
    const again = await producing(directory)
    expect(await again.append('t', texts(0, 'next'))).toEqual([{ partition: 0, offset: 20n }])
    await again.close()
    await log.close()
  })

  it('[EMB-14] [A12] [CK-26] a truncation under a live reader beyond it fails the reader; below it reading goes on', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    await producer.append('t', texts(0, ...Array.from({ length: 10 }, (_, index) => `old${index}`)))
    const log = reading(directory)
    const ahead = await readerAt(log, 0)
    await drain(ahead)
    const behind = await readerAt(log, 0)
    await behind.poll({ recordsMax: 3, waitMs: 0 })
    // Cuts the one batch in half.
    await producer.truncate('t', 0, offsetOf(6))
    expect(await bounds(log)).toEqual({ partition: 0, low: 0n, lastStableOffset: 6n, highWatermark: 6n })
    await producer.append('t', texts(0, ...Array.from({ length: 10 }, (_, index) => `new${index}`)))
    await producer.skipOffsets('t', 0, 4)
    expect(await drain(ahead)).toMatchObject({ records: [], failure: { reason: 'out-of-range' } })
    const rest = await drain(behind)
    expect(rest.records.slice(0, 4)).toEqual(['0:3=old3', '0:4=old4', '0:5=old5', '0:6=new0'])
    expect(rest.ends).toEqual(new Map([[0, 20n]]))
    const [kept, cut] = await log.readBack({
      topic: 't',
      records: [5, 8].map((offset) => ({ partition: 0, offset: offsetOf(offset) })),
      deadlineMs: 1_000,
    })
    const standing = await (await readerAt(log, 5)).poll({ recordsMax: 10, waitMs: 0 })
    const [at5, , , at8] = standing.kind === 'failed' ? [] : standing.batches[0]!.records
    expect([at5, at8].map((record) => Buffer.from(record!.value!).toString())).toEqual(['old5', 'new2'])
    expect(kept).toMatchObject({ kind: 'record', witness: { ...witnessOf(at5!), leaderEpoch: 0 } })
    expect(cut).toMatchObject({ kind: 'record', witness: { ...witnessOf(at8!), leaderEpoch: 1 } })
    expect((await drain(await readerAt(log, 18))).ends).toEqual(new Map([[0, 20n]]))
    await log.close()
    await producer.close()
  })

  it('[EMB-15] [CK-25] [CK-27] [CK-29] [CK-33] transactions: aborted records never come, markers take offsets, an open one holds the stable end', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory, {}, 2)
    const committed = producer.beginTransaction()
    await committed.append('t', [...texts(0, 'c0', 'c1'), text(1, 'c0')])
    const aborted = producer.beginTransaction()
    await aborted.append('t', texts(0, 'a0', 'a1'))
    await producer.append('t', texts(0, 'plain'))
    const log = reading(directory)
    expect(await bounds(log, 0, 2)).toMatchObject({ lastStableOffset: 0n, highWatermark: 5n })
    expect((await drain(await readerAt(log, 0, 0), 2)).records).toEqual([])
    await committed.commit()
    expect(await bounds(log, 0, 2)).toMatchObject({ lastStableOffset: 2n, highWatermark: 6n })
    await aborted.abort()
    expect(await bounds(log, 0, 2)).toMatchObject({ lastStableOffset: 7n, highWatermark: 7n })
    const all = await drain(await readerAt(log, 0, 0), 2)
    expect(all.records).toEqual(['0:0=c0', '0:1=c1', '0:4=plain', '1:0=c0'])
    expect(all.ends).toEqual(
      new Map([
        [0, 7n],
        [1, 2n],
      ]),
    )
    const readBack = await log.readBack({
      topic: 't',
      records: [0, 2, 5, 6, 7, 99].map((offset) => ({ partition: 0, offset: offsetOf(offset) })),
      deadlineMs: 1_000,
    })
    expect(readBack.map(({ kind }) => kind)).toEqual([
      'record',
      'absent',
      'absent',
      'absent',
      'unreadable',
      'unreadable',
    ])
    await expect(committed.append('t', texts(0, 'x'))).rejects.toMatchObject({ code: 'TM_EMBEDDED_TRANSACTION_ENDED' })
    await log.close()
    await producer.close()
  })

  it('[EMB-15] a transaction with a failed append can only be aborted', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    const transaction = producer.beginTransaction()
    await transaction.append('t', texts(0, 'a'))
    await expect(transaction.append('t', texts(9, 'b'))).rejects.toMatchObject({ code: 'TM_EMBEDDED_RECORD_INVALID' })
    await expect(transaction.commit()).rejects.toMatchObject({ code: 'TM_EMBEDDED_TRANSACTION_ENDED' })
    await transaction.abort()
    const log = reading(directory)
    expect(await drain(await readerAt(log, 0))).toMatchObject({ records: [], ends: new Map([[0, 2n]]) })
    await log.close()
    await producer.close()
  })

  it('[EMB-3] one writer; readers need no lock', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    await expect(producing(directory)).rejects.toMatchObject({ code: 'TM_EMBEDDED_LOCKED' })
    rmSync(join(directory, 'writer.lock'))
    await expect(producer.append('t', texts(0, 'x'))).rejects.toMatchObject({ code: 'TM_EMBEDDED_LOCK_LOST' })
    await producer.close()
  })

  it('[EMB-16] a torn tail goes at opening; damage before it is refused, and a reader names file and byte', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    for (const value of ['a', 'b', 'c']) await producer.append('t', texts(0, value))
    await producer.close()
    const file = segmentFiles(directory)[0]!
    const whole = readFileSync(file)
    writeFileSync(file, Buffer.concat([whole, whole.subarray(32, 60)]))
    // A copy of an earlier frame is no torn tail: its number is wrong.
    await expect(producing(directory)).rejects.toMatchObject({ code: 'TM_EMBEDDED_DAMAGED' })
    writeFileSync(file, Buffer.concat([whole, Buffer.alloc(100)]))
    const again = await producing(directory)
    await again.append('t', texts(0, 'd'))
    await again.close()
    const log = reading(directory)
    expect((await drain(await readerAt(log, 0))).records).toEqual(['0:0=a', '0:1=b', '0:2=c', '0:3=d'])
    const bytes = readFileSync(file)
    bytes[90] = bytes[90]! ^ 1
    writeFileSync(file, bytes)
    const { failure } = await drain(await readerAt(log, 0))
    expect(failure).toMatchObject({ reason: 'other' })
    expect(failure!.message).toContain(`${file} at byte`)
    const held = { topic: 't', records: [{ partition: 0, offset: offsetOf(3) }], deadlineMs: 5_000 }
    expect(await log.readBack(held)).toMatchObject([{ kind: 'unreadable', reason: 'damaged' }])
    await log.close()
  })

  it('[EMB-17] acknowledged records that are gone are refused at opening, or accepted as another epoch when said', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    await producer.append('t', texts(0, 'a'))
    const { size } = statSync(segmentFiles(directory)[0]!)
    await producer.append('t', texts(0, 'b'))
    await producer.close()
    truncateSync(segmentFiles(directory)[0]!, size)
    await expect(producing(directory)).rejects.toMatchObject({
      code: 'TM_EMBEDDED_RECORDS_LOST',
      details: { end: '1', highWatermark: '2' },
    })
    const log = reading(directory)
    const reader = await readerAt(log, 1)
    expect(await drain(reader)).toMatchObject({ failure: { reason: 'other' } })
    const accepted = await producing(directory, { lostRecords: 'accept' })
    await accepted.append('t', texts(0, 'other'))
    expect((await drain(await readerAt(log, 0))).records).toEqual(['0:0=a', '0:1=other'])
    await accepted.close()
    await log.close()
  })

  it('[EMB-18] bad input is refused before anything is written', async () => {
    const directory = temporaryDirectory()
    const producer = await producing(directory)
    const bad = [{ partition: 1 }, { partition: 0, timestampMs: 1.5 }, { partition: 0, value: 'text' as never }]
    for (const record of bad) {
      await expect(producer.append('t', [text(0, 'good'), record])).rejects.toMatchObject({
        code: 'TM_EMBEDDED_RECORD_INVALID',
        details: { index: 1 },
      })
    }
    const large = { partition: 0, value: Buffer.alloc(17 * 1024 * 1024) }
    await expect(producer.append('t', [large])).rejects.toMatchObject({ code: 'TM_EMBEDDED_RECORD_INVALID' })
    await expect(producer.append('nope', texts(0, 'x'))).rejects.toMatchObject({ code: 'TM_EMBEDDED_TOPIC_UNKNOWN' })
    await expect(producer.createTopic('t', { partitionCount: 1 })).rejects.toMatchObject({
      code: 'TM_EMBEDDED_TOPIC_EXISTS',
    })
    await expect(producer.createTopic('../t', { partitionCount: 1 })).rejects.toMatchObject({
      code: 'TM_CHECKPOINT_TOPIC_INVALID',
    })
    await expect(producer.truncate('t', 0, offsetOf(1))).rejects.toMatchObject({
      code: 'TM_EMBEDDED_OFFSET_OUT_OF_RANGE',
    })
    const log = reading(directory)
    expect(await bounds(log)).toMatchObject({ highWatermark: 0n })
    await producer.close()
    await expect(producer.append('t', texts(0, 'x'))).rejects.toMatchObject({ code: 'TM_EMBEDDED_CLOSED' })
    writeFileSync(join(directory, 'log.json'), '')
    await expect(producing(directory)).rejects.toMatchObject({ code: 'TM_EMBEDDED_DAMAGED' })
    rmSync(join(directory, 'log.json'))
    await expect(producing(directory)).rejects.toMatchObject({ code: 'TM_EMBEDDED_DIRECTORY_FOREIGN' })
    await log.close()
    await expect(readerAt(log, 0)).rejects.toMatchObject({ code: 'TM_EMBEDDED_CLOSED' })
  })
})
