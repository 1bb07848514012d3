import { strict as assert } from 'node:assert'
import { isTidemarkError } from '@tidemark/core'
import type { CommutingWriter, ProjectedValue, ProjectionWrite } from '@tidemark/checkpoint'
import { createProjectedModel } from '../oracle/projected-model.ts'
import { createSeededChooser } from '../sim/seeded-chooser.ts'
import { advance, assertCheckpoint, fullWriter, readFresh, startStore, storeCase } from './store-fixture.ts'
import type { StartedStore, StoreCase } from './store-fixture.ts'
import { drawWrites, writeTo } from './vocabulary-draw.ts'

const advanced = { kind: 'advanced', resent: false }

/** Keys, members and values that careless encoders break. */
const strangeTexts: readonly string[] = [
  'plain',
  'with:colon::',
  '{braces}:x',
  'new\nline\r\n\t',
  '💧é́ש',
  ' spaces ',
  '"quotes\' and \\back',
  '0',
  '-0',
  '1e3',
  '\u0000\u0001',
  '%s %d',
  'ключ',
  '9007199254740993',
]

/** What the writes mean, compared with a model of our own. */
export const storeVocabularyCases: readonly StoreCase[] = [
  storeCase({ id: 'PST-70', title: 'keys, members and values come back exactly, however strange' }, async (world) => {
    const started = await startStore(world)
    const keys = strangeTexts.map((text) => `k:${text}`)
    await advance(started, {
      from: 0,
      to: 1,
      write(w) {
        for (const key of keys) for (const member of strangeTexts) w.sadd(key, member)
        for (const member of strangeTexts) w.zadd('scores', 'GT', 7, member)
      },
    })
    const expected: ProjectedValue = { kind: 'set', members: new Set(strangeTexts) }
    assert.deepEqual(
      await world.readData(keys),
      keys.map(() => expected),
    )
    const scores = new Map(strangeTexts.map((member) => [member, 7]))
    assert.deepEqual(await world.readData(['scores']), [{ kind: 'sorted-set', scores }])
  }),
  storeCase(
    { id: 'PST-71', title: 'hash fields and strings come back exactly, however strange', needs: ['full-vocabulary'] },
    async (world) => {
      const started = await startStore(world)
      await advance(started, {
        from: 0,
        to: 1,
        write(writer) {
          const w = fullWriter(writer)
          for (const text of [...strangeTexts, '']) {
            w.set(`s:${text}`, text)
            w.hset('h', `f${text}`, text)
          }
        },
      })
      const texts = [...strangeTexts, '']
      const values = await world.readData(texts.map((text) => `s:${text}`))
      assert.deepEqual(
        values,
        texts.map((value) => ({ kind: 'string', value })),
      )
      const fields = new Map(texts.map((text) => [`f${text}`, text]))
      assert.deepEqual(await world.readData(['h']), [{ kind: 'hash', fields }])
    },
  ),
  storeCase(
    { id: 'PST-72', title: 'setIfGreater compares whole numbers exactly, beyond 2^53 and across lengths' },
    async (world) => {
      const started = await startStore(world)
      const beyond = 2n ** 53n
      const last = 2n ** 63n - 1n
      const sequences: readonly (readonly [string, readonly bigint[], bigint])[] = [
        ['beyond', [beyond, beyond + 1n, beyond], beyond + 1n],
        ['lengths', [9n, 10n, 9n], 10n],
        ['zero', [0n], 0n],
        ['last', [last - 1n, last, last - 1n], last],
        ['hundred', [99n, 100n, 20n], 100n],
      ]
      let next = 0
      for (const [key, values] of sequences) {
        for (const value of values) {
          assert.deepEqual(
            await advance(started, { from: next, to: next + 1, write: (w) => w.setIfGreater(key, value) }),
            advanced,
          )
          next += 1
        }
      }
      const read = await world.readData(sequences.map(([key]) => key))
      assert.deepEqual(
        read,
        sequences.map(([, , value]) => ({ kind: 'string', value: String(value) })),
      )
    },
  ),
  storeCase(
    { id: 'PST-73', title: 'GT keeps the greatest score and LT the least, up to the largest safe integer' },
    async (world) => {
      const started = await startStore(world)
      const scores = [5, -3, 9_007_199_254_740_991, 9_007_199_254_740_990, -9_007_199_254_740_991, 0]
      await advance(started, {
        from: 0,
        to: 1,
        write(w) {
          for (const score of scores) {
            w.zadd('gt', 'GT', score, 'm')
            w.zadd('lt', 'LT', score, 'm')
          }
        },
      })
      assert.deepEqual(await world.readData(['gt', 'lt']), [
        { kind: 'sorted-set', scores: new Map([['m', 9_007_199_254_740_991]]) },
        { kind: 'sorted-set', scores: new Map([['m', -9_007_199_254_740_991]]) },
      ])
    },
  ),
  storeCase({ id: 'PST-74', title: 'commuting writes in long random sequences mean what the model says' }, (world) =>
    compareWithModel(world, 'commuting', 11),
  ),
  storeCase(
    {
      id: 'PST-75',
      title: 'the whole vocabulary in long random sequences means what the model says',
      needs: ['full-vocabulary'],
    },
    (world) => compareWithModel(world, 'all', 23),
  ),
  storeCase(
    {
      id: 'PST-76',
      title: 'a record replayed 100 times leaves sessions monotone, complete and without duplicates',
      promises: ['A7'],
    },
    async (world) => {
      const started = await startStore(world)
      const write = (createdAt: number) => (w: CommutingWriter) => {
        for (const user of ['ada', 'ben', 'cyd']) w.zadd(`convs:${user}`, 'GT', createdAt, 'conversation-1')
      }
      await advance(started, { from: 0, to: 1, write: write(10) })
      await advance(started, { from: 1, to: 2, write: write(30) })
      for (let replay = 0; replay < 100; replay += 1) {
        const next = 2 + replay
        await advance(started, { from: next, to: next + 1, write: write(10) })
        if (replay % 25 === 0) {
          const [value] = await world.readData(['convs:ben'])
          assert.deepEqual(value, { kind: 'sorted-set', scores: new Map([['conversation-1', 30]]) })
        }
      }
      const expected = { kind: 'sorted-set', scores: new Map([['conversation-1', 30]]) }
      const read = await world.readData(['convs:ada', 'convs:ben', 'convs:cyd'])
      assert.deepEqual(read, [expected, expected, expected])
    },
  ),
  storeCase(
    { id: 'PST-77', title: 'a record larger than one step may hold is written whole, its checkpoint with it' },
    async (world) => {
      const started = await startStore(world)
      const { writesMax, bytesMax } = started.store.stepLimits
      const many = Math.min(writesMax * 2 + 1, 10_000)
      const members = Array.from({ length: many }, (_, index) => `user-${index}`)
      const crowded = {
        from: 0,
        to: 1,
        write: (w: CommutingWriter) => members.forEach((member) => w.sadd('many', member)),
      }
      assert.deepEqual(await advance(started, crowded), advanced)
      const long = 'x'.repeat(60_000)
      const bulky = Array.from(
        { length: Math.min(Math.ceil(bytesMax / 60_000) + 2, 20) },
        (_, index) => `${long}${index}`,
      )
      const heavy = {
        from: 1,
        to: 2,
        write: (w: CommutingWriter) => bulky.forEach((member) => w.sadd('bulky', member)),
      }
      assert.deepEqual(await advance(started, heavy), advanced)
      assertCheckpoint(await readFresh(world), 0, 2)
      const [manyRead, bulkyRead] = await world.readData(['many', 'bulky'])
      assert.deepEqual(manyRead, { kind: 'set', members: new Set(members) })
      assert.deepEqual(bulkyRead, { kind: 'set', members: new Set(bulky) })
    },
  ),
  storeCase({ id: 'PST-78', title: 'a rewound buffer holds nothing of what was rewound' }, async (world) => {
    const started = await startStore(world)
    const write = (w: CommutingWriter): void => w.sadd('kept', 'm')
    const buffer = started.store.newWrites()
    assert.equal(buffer.writeCount, 0)
    write(buffer.writer)
    const mark = buffer.mark()
    const bytes = buffer.byteCount
    buffer.writer.sadd('dropped', 'm')
    assert.equal(buffer.writeCount, 2)
    assert.ok(buffer.byteCount > bytes)
    buffer.rewind(mark)
    assert.deepEqual([buffer.writeCount, buffer.byteCount], [1, bytes])
  }),
  storeCase(
    { id: 'PST-79', title: 'a bad write is refused by a typed error before anything of it is collected' },
    async (world) => {
      const { store } = await startStore(world)
      const buffer = store.newWrites()
      const bad: readonly (() => void)[] = [
        () => buffer.writer.sadd('', 'm'),
        () => buffer.writer.sadd('k', '\ud800'),
        () => buffer.writer.zadd('k', 'GT', 1.5, 'm'),
        () => buffer.writer.zadd('k', 'GT', Number.NaN, 'm'),
        () => buffer.writer.zadd('k', 'XX' as 'GT', 1, 'm'),
        () => buffer.writer.setIfGreater('k', -1n),
        () => buffer.writer.setIfGreater('k', 2n ** 63n),
        () => buffer.writer.sadd('k', 'x'.repeat(70_000)),
      ]
      for (const attempt of bad) {
        assert.throws(attempt, (error) => isTidemarkError(error, 'TM_CHECKPOINT_WRITE_INVALID'))
      }
      assert.deepEqual([buffer.writeCount, buffer.byteCount], [0, 0])
    },
  ),
]

async function compareWithModel(
  world: Parameters<StoreCase['run']>[0] extends () => Promise<infer W> ? W : never,
  vocabulary: 'commuting' | 'all',
  seed: number,
): Promise<void> {
  const started = await startStore(world)
  const chooser = createSeededChooser(seed)
  const model = createProjectedModel()
  let next = 0
  for (let step = 0; step < 40; step += 1) {
    const writes = drawWrites(chooser, vocabulary, 25, model)
    for (const write of writes) model.apply(write)
    await stepOf(started, next, writes)
    next += 1
  }
  const keys = model.keys()
  assert.deepEqual(
    await world.readData(keys),
    keys.map((key) => model.read(key)),
  )
}

async function stepOf(started: StartedStore, next: number, writes: readonly ProjectionWrite[]): Promise<void> {
  const write = (writer: CommutingWriter): void => writes.forEach((each) => writeTo(writer, each))
  // A write that is valid in its order must not be refused; a refusal here means the order was changed.
  const outcome = await advance(started, { from: next, to: next + 1, write }).catch((error: unknown) => String(error))
  assert.deepEqual(outcome, advanced)
}
