import { copyFileSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import type { MemoryData } from '@tidemark/checkpoint/memory'
import { createEmbeddedStorage } from '@tidemark/embedded'
import { temporaryDirectory } from '../temporary-directory.ts'

const numRuns = process.env['TIDEMARK_SIZE'] === 'full' ? 600 : 40
const member = fc.constantFrom('a', 'b', 'ü\n{}:')
const write: fc.Arbitrary<ProjectionWrite> = fc.oneof(
  fc.record({
    op: fc.constant('zadd' as const),
    key: fc.constant('z'),
    mode: fc.constantFrom('GT' as const, 'LT' as const, 'ANY' as const),
    score: fc.maxSafeInteger(),
    member,
  }),
  fc.record({ op: fc.constant('zrem' as const), key: fc.constant('z'), member }),
  fc.record({ op: fc.constant('sadd' as const), key: fc.constant('s'), member }),
  fc.record({ op: fc.constant('srem' as const), key: fc.constant('s'), member }),
  fc.record({ op: fc.constant('hset' as const), key: fc.constant('h'), field: member, value: fc.string() }),
  fc.record({ op: fc.constant('hdel' as const), key: fc.constant('h'), field: member }),
  fc.record({ op: fc.constant('setIfGreater' as const), key: fc.constant('n'), value: fc.bigInt(0n, 2n ** 63n - 1n) }),
  fc.record({ op: fc.constant('set' as const), key: fc.constant('t'), value: fc.string({ unit: 'grapheme' }) }),
  fc.record({ op: fc.constant('del' as const), key: fc.constantFrom('z', 's', 'h', 'n', 't') }),
)

/** The keyspace after each confirmed step, with the size the journal had then. */
interface Confirmed {
  readonly journalSize: number
  readonly values: MemoryData['values']
}

async function run(directory: string, steps: readonly (readonly ProjectionWrite[])[], compactAtBytes: number) {
  const storage = await createEmbeddedStorage({ directory, durability: 'server', compactAtBytes })
  const states: Confirmed[] = []
  let journal = ''
  const note = (): void => {
    const current = newestJournal(directory)
    // A compaction begins another journal: what it starts from is its own first state.
    if (current !== journal) states.length = 0
    journal = current
    states.push({ journalSize: statSync(join(directory, current)).size, values: structuredClone(storage.data.values) })
  }
  note()
  for (const writes of steps) {
    await storage.step(() => ({ outcome: undefined, writes }))
    await storage.settle()
    note()
  }
  await storage.close()
  return states
}

function newestJournal(directory: string): string {
  return readdirSync(directory)
    .filter((name) => name.endsWith('.journal'))
    .sort()
    .at(-1)!
}

function copyOf(directory: string, name: string): string {
  const copy = join(directory, '..', `${name}-copy`)
  mkdirSync(copy)
  for (const file of readdirSync(directory)) copyFileSync(join(directory, file), join(copy, file))
  return copy
}

async function valuesOf(directory: string): Promise<MemoryData['values']> {
  const storage = await createEmbeddedStorage({ directory, durability: 'server' })
  const values = structuredClone(storage.data.values)
  await storage.close()
  // What was cut off is gone for good: a second opening finds the same.
  const again = await createEmbeddedStorage({ directory, durability: 'server' })
  expect(again.data.values).toEqual(values)
  await again.close()
  return values
}

describe('a journal cut off by a crash', () => {
  it('[EMB-1] [A13] cut at any byte, it holds exactly the steps that were whole', async () => {
    const scenario = fc.array(fc.array(write, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(
        scenario,
        fc.nat(),
        fc.constantFrom(1024, 2 ** 20),
        fc.boolean(),
        async (steps, at, size, zeros) => {
          const root = temporaryDirectory()
          const directory = join(root, 'store')
          const states = await run(directory, steps, size)
          const journal = join(directory, newestJournal(directory))
          const first = states[0]!.journalSize
          const end = statSync(journal).size
          const cut = first + (at % (end - first + 1))
          truncateSync(journal, cut)
          // A file system may have grown the file without having written what belongs there.
          if (zeros) writeFileSync(journal, Buffer.alloc(end - cut), { flag: 'a' })
          const expected = states.findLast(({ journalSize }) => journalSize <= cut)!
          expect(await valuesOf(copyOf(directory, 'store'))).toEqual(expected.values)
        },
      ),
      { numRuns },
    )
  })

  it('[EMB-5] a changed byte is refused, unless it is in the last step, which is dropped whole', async () => {
    const scenario = fc.array(fc.array(write, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 8 })
    await fc.assert(
      fc.asyncProperty(scenario, fc.nat(), fc.integer({ min: 1, max: 255 }), async (steps, at, flip) => {
        const directory = join(temporaryDirectory(), 'store')
        const states = await run(directory, steps, 2 ** 20)
        const journal = join(directory, newestJournal(directory))
        const bytes = readFileSync(journal)
        const position = at % bytes.length
        bytes[position] = bytes[position]! ^ flip
        writeFileSync(journal, bytes)
        const last = states.at(-2)!
        const opened = await valuesOf(directory).catch((error: unknown) => error)
        if (position >= last.journalSize && !(opened instanceof Error)) expect(opened).toEqual(last.values)
        else expect((opened as { code?: string }).code).toMatch(/^TM_EMBEDDED_(DAMAGED|FORMAT_UNKNOWN)$/)
      }),
      { numRuns },
    )
  })
})
