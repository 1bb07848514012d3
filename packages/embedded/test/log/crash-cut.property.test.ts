import { readdirSync, statSync, truncateSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { EmbeddedTransaction } from '@tidemark/embedded'
import { temporaryDirectory } from '../temporary-directory.ts'
import { bounds, drain, producing, readerAt, reading, texts } from './log-harness.ts'

const numRuns = process.env['TIDEMARK_SIZE'] === 'full' ? 500 : 40

type Op =
  | { readonly kind: 'append'; readonly count: number }
  | { readonly kind: 'begin' | 'commit' | 'abort' | 'gap' | 'add'; readonly pick: number }

const op: fc.Arbitrary<Op> = fc.oneof(
  fc.record({ kind: fc.constant('append' as const), count: fc.integer({ min: 1, max: 4 }) }),
  fc.record({ kind: fc.constantFrom('begin' as const, 'commit', 'abort', 'gap', 'add'), pick: fc.nat({ max: 3 }) }),
)

/** One confirmed entry of the partition: how large its file was then, and what it says. */
interface Entry {
  readonly size: number
  readonly transaction: number | undefined
  readonly records: readonly string[]
  readonly ends?: 'commit' | 'abort'
  readonly offsets: number
}

function segment(directory: string): string {
  const records = join(directory, 'records')
  return join(records, readdirSync(records)[0]!, '0', `${'0'.repeat(19)}.segment`)
}

/** Runs the operations and leaves the log as a killed process does: no transaction is ended on the way out. */
async function run(directory: string, ops: readonly Op[]): Promise<{ entries: Entry[]; release: () => Promise<void> }> {
  const producer = await producing(directory)
  const entries: Entry[] = []
  const open: { readonly transaction: EmbeddedTransaction; readonly id: number }[] = []
  let next = 0
  let ids = 0
  const note = (entry: Omit<Entry, 'size'>): void => {
    entries.push({ ...entry, size: statSync(segment(directory)).size })
    next += entry.offsets
  }
  const values = (count: number): string[] => Array.from({ length: count }, (_, index) => `r${next + index}`)
  for (const each of ops) {
    if (each.kind === 'append') {
      const records = values(each.count)
      await producer.append('t', texts(0, ...records))
      note({ transaction: undefined, records, offsets: records.length })
    } else if (each.kind === 'gap') {
      await producer.skipOffsets('t', 0, each.pick + 1)
      note({ transaction: undefined, records: [], offsets: each.pick + 1 })
    } else if (each.kind === 'begin' || (each.kind === 'add' && open.length > 0)) {
      if (each.kind === 'begin') open.push({ transaction: producer.beginTransaction(), id: (ids += 1) })
      const { transaction, id } = each.kind === 'begin' ? open.at(-1)! : open[each.pick % open.length]!
      const records = values(1 + each.pick)
      await transaction.append('t', texts(0, ...records))
      note({ transaction: id, records, offsets: records.length })
    } else if ((each.kind === 'commit' || each.kind === 'abort') && open.length > 0) {
      const [{ transaction, id }] = open.splice(each.pick % open.length, 1) as [(typeof open)[number]]
      await (each.kind === 'commit' ? transaction.commit() : transaction.abort())
      note({ transaction: id, records: [], ends: each.kind, offsets: 1 })
    }
  }
  return { entries, release: () => producer.close() }
}

/** What must be delivered of the entries that are whole: plain records, and those of transactions whose commit is. */
function delivered(whole: readonly Entry[]): readonly string[] {
  const committed = new Set(whole.filter(({ ends }) => ends === 'commit').map(({ transaction }) => transaction))
  return whole
    .filter(({ transaction }) => transaction === undefined || committed.has(transaction))
    .flatMap(({ records }) => records.map((value) => `0:${value.slice(1)}=${value}`))
}

describe('a log cut off by a crash', () => {
  it('[EMB-16] [EMB-17] [A13] cut at any byte: whole entries stay, acknowledged ones are missed, open transactions end', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(op, { minLength: 1, maxLength: 15 }), fc.nat(), async (ops, at) => {
        const directory = temporaryDirectory()
        const empty = await producing(directory)
        await empty.close()
        const first = statSync(segment(directory)).size
        const { entries, release } = await run(directory, ops)
        const log = reading(directory)
        const { highWatermark } = await bounds(log)
        expect(highWatermark).toBe(BigInt(entries.reduce((sum, { offsets }) => sum + offsets, 0)))
        const last = entries.at(-1)?.size ?? first
        const cut = first + (at % (last - first + 1))
        // Closing aborts what is open; the cut takes those markers away again, as if they had never been written.
        await release()
        truncateSync(segment(directory), cut)
        const whole = entries.filter(({ size }) => size <= cut)
        const end = whole.reduce((sum, { offsets }) => sum + offsets, 0)
        const published = (await bounds(log)).highWatermark
        if (BigInt(end) < published) {
          await expect(producing(directory)).rejects.toMatchObject({ code: 'TM_EMBEDDED_RECORDS_LOST' })
        }
        const again = await producing(directory, { lostRecords: 'accept' })
        const read = await drain(await readerAt(log, 0))
        expect(read.failure).toBeUndefined()
        expect(read.records).toEqual(delivered(whole))
        const after = await bounds(log)
        expect(after.lastStableOffset).toBe(after.highWatermark)
        expect(read.ends.get(0)).toBe(after.highWatermark)
        await again.append('t', texts(0, 'next'))
        const more = await drain(await readerAt(log, Number(after.highWatermark)))
        expect(more.records).toEqual([`0:${after.highWatermark}=next`])
        await log.close()
        await again.close()
      }),
      { numRuns },
    )
  })
})
