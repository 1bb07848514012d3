import { describe, expect, it } from 'vitest'
import { createEmbeddedDataReader, createEmbeddedProjectionStore, createEmbeddedStorage } from '@tidemark/embedded'
import { createEmbeddedProducer } from '@tidemark/embedded'
import { drain, readerAt, reading } from '../log/log-harness.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { linesUntilKilled } from './killed-child.ts'

const kills = process.env['TIDEMARK_SIZE'] === 'full' ? 40 : 4

/** Spread over the kills instead of drawn, so that a run can be repeated. */
function delayMs(kill: number): number {
  return (kill * 37) % 120
}

describe('writers killed in the middle', () => {
  it('[EMB-1] [EMB-3] [A13] no confirmed step is lost, and no checkpoint is ahead of its data', async () => {
    const directory = temporaryDirectory()
    const confirmed = [0, 0]
    for (let kill = 0; kill < kills; kill += 1) {
      for (const line of await linesUntilKilled('step-writer.ts', [directory], delayMs(kill))) {
        const [partition, next] = line.split(' ').map(Number)
        confirmed[partition!] = next!
      }
      // The lock of the killed process does not stand in the way.
      const storage = await createEmbeddedStorage({ directory, durability: 'fsync' })
      const store = createEmbeddedProjectionStore({ storage, namespace: 'ns' })
      const state = await store.read({ topic: 'dispatch', partitionCount: 2 })
      for (const partition of [0, 1]) {
        const next = Number(state.checkpoints.get(partition)!['next_offset'])
        expect(next).toBeGreaterThanOrEqual(confirmed[partition]!)
        // One step a partition may have been on disk without its confirmation having been heard.
        expect(next).toBeLessThanOrEqual(confirmed[partition]! + 1)
        const keys = [`last:${partition}`, `convs:${partition}`]
        const [last, conversations] = await createEmbeddedDataReader({ storage }).readValues(keys)
        if (next === 0) continue
        expect(last).toEqual({ kind: 'string', value: String(next - 1) })
        const scores = conversations?.kind === 'sorted-set' ? [...conversations.scores] : []
        expect(scores).toHaveLength(Math.min(next, 50))
        for (const [member, score] of scores) {
          expect(member).toBe(`c${score % 50}`)
          expect(score).toBeGreaterThanOrEqual(next - 50)
        }
      }
      await storage.close()
    }
    expect(Math.min(...confirmed)).toBeGreaterThan(kills)
  })

  it('[EMB-15] [EMB-16] [A13] no confirmed transaction is lost, none is delivered in part, aborted ones never', async () => {
    const directory = temporaryDirectory()
    let confirmed = -1
    for (let kill = 0; kill < kills; kill += 1) {
      const lines = await linesUntilKilled('transaction-writer.ts', [directory, String(confirmed + 1)], delayMs(kill))
      confirmed = Number(lines.at(-1))
      // A reader beside no writer sees only what was committed, the same in both partitions or one transaction apart.
      const log = reading(directory)
      const before = partitionsOf(await drain(await readerAt(log, 0, 0), 2))
      expect(Math.abs(before[0]!.length - before[1]!.length)).toBeLessThanOrEqual(1)
      // The next opening finishes what was decided and aborts what was not.
      const producer = await createEmbeddedProducer({ directory, durability: 'fsync', segmentBytesMax: 2048 })
      const after = partitionsOf(await drain(await readerAt(log, 0, 0), 2))
      expect(after[0]).toEqual(after[1])
      const numbers = after[0]!
      const last = numbers.at(-1) ?? -1
      expect(last).toBeGreaterThanOrEqual(confirmed % 3 === 2 ? confirmed - 1 : confirmed)
      expect(last).toBeLessThanOrEqual(confirmed + 2)
      expect(numbers).toEqual(Array.from({ length: last + 1 }, (_, number) => number).filter((each) => each % 3 !== 2))
      confirmed = Math.max(confirmed, last)
      await producer.close()
      await log.close()
    }
    expect(confirmed).toBeGreaterThan(kills)
  })
})

function partitionsOf(read: Awaited<ReturnType<typeof drain>>): readonly (readonly number[])[] {
  expect(read.failure).toBeUndefined()
  const of = (partition: number): readonly number[] =>
    read.records.filter((each) => each.startsWith(`${partition}:`)).map((each) => Number(each.split('=')[1]))
  return [of(0), of(1)]
}
