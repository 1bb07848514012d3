import { offsetOf } from '@tidemark/core'
import { boundsFault } from '@tidemark/log'
import type { LogRecord } from '@tidemark/log'
import { createHistoryPlayer, logHistory } from '@tidemark/testkit/arbitrary'
import type { LogEvent } from '@tidemark/testkit/arbitrary'
import { createSimLog } from '@tidemark/testkit/sim'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runSize } from '../run-size.ts'

/** Reads a simulated topic from 0 to its ends, as a client does, while nothing else happens. */
async function readAll(seed: number, events: readonly LogEvent[]) {
  const sim = createSimLog({ seed })
  const topic = sim.cluster.createTopic('t', { partitions: 2 })
  const player = createHistoryPlayer(sim.cluster, 't')
  for (const event of events) player.play(event)
  player.settle('commit')
  const ends = [0, 1].map((partition) => topic.partition(partition).bounds().lastStableOffset)
  const positions = [0, 1].map((partition) => ({ partition, nextOffset: offsetOf(0) }))
  const reader = await sim.openLog().openReader({ topic: 't', positions, deadlineMs: 1_000 })
  const records: LogRecord[][] = [[], []]
  const reached: (bigint | undefined)[] = [undefined, undefined]
  for (let poll = 0; poll < 2_000 && !ends.every((end, partition) => reached[partition] === end); poll += 1) {
    const result = await reader.poll({ recordsMax: 4, waitMs: 10 })
    if (result.kind === 'failed') throw new Error(result.failure.message)
    for (const batch of result.batches) {
      records[batch.partition]!.push(...batch.records)
      if (batch.endOffset !== undefined) reached[batch.partition] = batch.endOffset
    }
  }
  return { topic, records, reached, ends }
}

describe('log histories', () => {
  it('[TST-2] [TST-10] a reader of any history gets exactly the committed records and ends at the stable end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), logHistory(), async (seed, events) => {
        const { topic, records, reached, ends } = await readAll(seed, events)
        expect(reached).toEqual(ends)
        for (const partition of [0, 1]) expect(records[partition]).toEqual(topic.committed(partition))
      }),
      runSize(150, 2_000),
    )
  })

  it('[TST-10] bounds stay those of one log through every event, harmful ones too', () => {
    fc.assert(
      fc.property(logHistory({ harmful: true, maxLength: 60 }), (events) => {
        const { cluster } = createSimLog()
        cluster.createTopic('t', { partitions: 2 })
        const player = createHistoryPlayer(cluster, 't')
        const ids = new Set([cluster.topic('t').topicId])
        for (const event of events) {
          player.play(event)
          const topic = cluster.topic('t')
          ids.add(topic.topicId)
          const bounds = Array.from({ length: topic.partitionCount }, (_, each) => topic.partition(each).bounds())
          expect(boundsFault(bounds, topic.partitionCount)).toBeUndefined()
        }
        expect(ids.size).toBe(1 + events.filter(({ kind }) => kind === 'recreation').length)
      }),
      runSize(500, 10_000),
    )
  })
})
