import { isTidemarkError, offsetOf } from '@tidemark/core'
import { judgeSurvey } from '@tidemark/log'
import type { CommittedLog, LogReader, LogRecord } from '@tidemark/log'
import { createSimLog } from '@tidemark/testkit/sim'
import type { SimLogWorld } from '@tidemark/testkit/sim'
import { describe, expect, it } from 'vitest'

const deadlineMs = 1_000

async function open(log: CommittedLog, topic: string, ...positions: readonly number[]): Promise<LogReader> {
  return log.openReader({
    topic,
    positions: positions.map((next, partition) => ({ partition, nextOffset: offsetOf(next) })),
    deadlineMs,
  })
}

interface Drained {
  readonly records: readonly LogRecord[]
  readonly ends: ReadonlyMap<number, bigint>
  readonly failure: string | undefined
}

/** Polls until a few polls in a row bring nothing. */
async function drain(reader: LogReader): Promise<Drained> {
  const records: LogRecord[] = []
  const ends = new Map<number, bigint>()
  for (let idle = 0; idle < 3;) {
    const result = await reader.poll({ recordsMax: 3, waitMs: 20 })
    if (result.kind === 'failed') return { records, ends, failure: result.failure.reason }
    if (result.batches.length === 0) idle += 1
    for (const batch of result.batches) {
      idle = 0
      records.push(...batch.records)
      if (batch.endOffset !== undefined) ends.set(batch.partition, batch.endOffset)
    }
  }
  return { records, ends, failure: undefined }
}

const values = (records: readonly LogRecord[]): readonly string[] =>
  records.map((record) => new TextDecoder().decode(record.value ?? new Uint8Array()))

function world(seed = 1): SimLogWorld {
  return createSimLog({ seed, brokers: 3 })
}

describe('simulated log', () => {
  it('[TST-2] delivers only committed records, in order, and reports the end after markers and aborted records', async () => {
    const { cluster, openLog } = world()
    const topic = cluster.createTopic('t')
    const first = topic.begin()
    first.append(0, { value: 'a' }, { value: 'b' })
    first.commit()
    const second = topic.begin()
    second.append(0, { value: 'x' }, { value: 'y' })
    second.abort()
    const drained = await drain(await open(openLog(), 't', 0))
    expect(values(drained.records)).toEqual(['a', 'b'])
    expect(drained.ends.get(0)).toBe(6n)
  })

  it('[TST-2] holds records back at the last stable offset until the open transaction ends', async () => {
    const { cluster, openLog } = world()
    const topic = cluster.createTopic('t')
    topic.append(0, { value: 'before' })
    const open_ = topic.begin()
    open_.append(0, { value: 'inside' })
    topic.append(0, { value: 'after' })
    expect(topic.partition(0).bounds()).toMatchObject({ low: 0n, lastStableOffset: 1n, highWatermark: 3n })
    const reader = await open(openLog(), 't', 0)
    expect(values((await drain(reader)).records)).toEqual(['before'])
    open_.commit()
    const rest = await drain(reader)
    expect(values(rest.records)).toEqual(['inside', 'after'])
    expect(rest.ends.get(0)).toBe(4n)
  })

  it('[TST-3] goes on silently with a recreated topic inside the range, and fails above it', async () => {
    for (const [fresh, failure] of [
      [8, undefined],
      [2, 'out-of-range'],
    ] as const) {
      const { cluster, openLog } = world()
      const old = cluster.createTopic('t')
      old.append(0, ...Array.from({ length: 5 }, (_, index) => ({ value: `old${index}` })))
      const reader = await open(openLog(), 't', 0)
      await drain(reader)
      const recreated = cluster.recreateTopic('t')
      expect(recreated.topicId).not.toBe(old.topicId)
      recreated.append(0, ...Array.from({ length: fresh }, (_, index) => ({ value: `new${index}` })))
      const drained = await drain(reader)
      expect(drained.failure).toBe(failure)
      expect(values(drained.records)).toEqual(failure === undefined ? ['new5', 'new6', 'new7'] : [])
    }
  })

  it('[TST-3] fails on a recreated topic when it fetches by id', async () => {
    const { cluster, openLog } = createSimLog({ recreation: 'fails' })
    cluster.createTopic('t').append(0, { value: 'old' })
    const reader = await open(openLog(), 't', 0)
    await drain(reader)
    cluster.recreateTopic('t').append(0, { value: 'new0' }, { value: 'new1' })
    expect((await drain(reader)).failure).toBe('unknown-topic')
  })

  it('[TST-3] lets one partition fall silent when its only report is swallowed', async () => {
    const { cluster, openLog, reading } = world()
    const topic = cluster.createTopic('t', { partitions: 2 })
    topic.append(0, { value: 'a' })
    topic.append(1, { value: 'b' })
    topic.deleteRecordsBefore(0, 1)
    reading.swallowFailures = true
    const drained = await drain(await open(openLog(), 't', 0, 0))
    expect(drained.failure).toBeUndefined()
    expect(values(drained.records)).toEqual(['b'])
    expect(drained.ends.has(0)).toBe(false)
  })

  it('[TST-3] hands out a batch fetched before a recreation after it', async () => {
    const { cluster, openLog, gate } = world()
    cluster.createTopic('t').append(0, { value: 'old' })
    const reader = await open(openLog(), 't', 0)
    const release = gate.holdReply('poll')
    const inFlight = reader.poll({ recordsMax: 10, waitMs: 0 })
    await new Promise((resolve) => setImmediate(resolve))
    cluster.recreateTopic('t')
    release()
    const result = await inFlight
    expect(result.kind === 'fetched' && values(result.batches[0]!.records)).toEqual(['old'])
  })

  it('[TST-4] proves identity only while every listed broker answers with it', async () => {
    const { cluster, openLog } = world()
    const topic = cluster.createTopic('t')
    const { inspector } = openLog()
    const survey = async () => judgeSurvey(await inspector.surveyIdentity('t', { deadlineMs }), held)
    const held = { clusterId: cluster.clusterId, topic: 't', topicId: topic.topicId, partitionCount: 1 }
    expect((await survey()).kind).toBe('proven')
    cluster.broker(2).behave({ kind: 'silent' })
    expect(await survey()).toMatchObject({ kind: 'unproven', brokerId: 2, reason: 'timeout' })
    cluster.removeBroker(2)
    expect((await survey()).kind).toBe('proven')
    cluster.makeStale(3)
    cluster.recreateTopic('t')
    expect(await survey()).toMatchObject({ kind: 'mismatch', brokerId: 1 })
    cluster.broker(1).behave({ kind: 'answers', reason: 'zero-topic-id' })
    expect(await survey()).toMatchObject({ kind: 'unproven', reason: 'zero-topic-id' })
  })

  it('[TST-4] reads back records, gaps and nothing', async () => {
    const { cluster, openLog } = world()
    const topic = cluster.createTopic('t')
    const tx = topic.begin()
    tx.append(0, { value: 'a' })
    tx.commit()
    const answers = await openLog().readBack({
      topic: 't',
      records: [0, 1].map((offset) => ({ partition: 0, offset: offsetOf(offset) })),
      deadlineMs,
    })
    expect(answers.map((answer) => answer.kind)).toEqual(['record', 'absent'])
  })

  it('[TST-4] rejects opening an unknown topic with a typed error', async () => {
    const error: unknown = await open(world().openLog(), 'nowhere', 0).catch((thrown: unknown) => thrown)
    expect(isTidemarkError(error, 'TM_SIM_TOPIC_UNKNOWN')).toBe(true)
  })

  it('[TST-2] cuts polls differently under different seeds, never the order', async () => {
    const shapes = new Set<string>()
    for (let seed = 1; seed <= 20; seed += 1) {
      const { cluster, openLog } = world(seed)
      const topic = cluster.createTopic('t', { partitions: 2 })
      for (const partition of [0, 1])
        topic.append(partition, ...[0, 1, 2, 3].map((n) => ({ value: `${partition}.${n}` })))
      const { records } = await drain(await open(openLog(), 't', 0, 0))
      for (const partition of [0, 1]) {
        const own = records.filter((record) => record.partition === partition)
        expect(values(own)).toEqual([0, 1, 2, 3].map((n) => `${partition}.${n}`))
      }
      shapes.add(values(records).join(' '))
    }
    expect(shapes.size).toBeGreaterThan(1)
  })
})
