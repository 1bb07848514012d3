import { strict as assert } from 'node:assert'
import { encodeQuarantineEntry, quarantineEntryOf } from '@tidemark/checkpoint'
import { encodeFence, encodeWitness, witnessOf } from '@tidemark/log'
import {
  advance,
  advanceRequest,
  assertCheckpoint,
  assertNotAdvanced,
  claimStore,
  damageOf,
  fingerprintOf,
  identity,
  partitionsOf,
  readFresh,
  recordAt,
  startStore,
  storeCase,
} from './store-fixture.ts'
import type { StoreCase } from './store-fixture.ts'

const advanced = { kind: 'advanced', resent: false }

/** One step of one partition: what moves, what stops it, and that a stopped step leaves nothing. */
export const storeAdvanceCases: readonly StoreCase[] = [
  storeCase({ id: 'PST-30', title: 'a step makes data, checkpoint and witness visible together' }, async (world) => {
    const started = await startStore(world)
    const outcome = await advance(started, { from: 0, to: 7, write: (w) => w.zadd('convs:u', 'GT', 5, 'c') })
    assert.deepEqual(outcome, advanced)
    const state = await readFresh(world)
    for (const [partition, next] of [7, 0, 0].entries()) assertCheckpoint(state, partition, next)
    assert.deepEqual([...state.witnesses], [[0, encodeWitness(witnessOf(recordAt(6)))]])
    assert.deepEqual(await world.readData(['convs:u']), [{ kind: 'sorted-set', scores: new Map([['c', 5]]) }])
  }),
  storeCase(
    {
      id: 'PST-31',
      title: 'a step from another position than the stored one is a conflict with both values, and writes nothing',
      promises: ['CKP-20', 'CK-13'],
      needs: ['fingerprint', 'fenced-writes'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 120 })
      const before = await fingerprintOf(world)
      for (const [from, to] of [
        [100, 110],
        [0, 200],
        [121, 130],
      ] as const) {
        const outcome = await advance(started, { from, to, write: (w) => w.sadd('s', `from ${from}`) })
        assert.equal(outcome.kind, 'conflict')
        if (outcome.kind !== 'conflict') return
        assert.deepEqual([outcome.field, outcome.expected, outcome.found], ['next_offset', String(from), '120'])
      }
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-32',
      title: 'a checkpoint never moves by a step from another position, whatever becomes of the data',
      promises: ['CKP-20', 'CK-13'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 120 })
      await assertNotAdvanced(advance(started, { from: 100, to: 110, write: (w) => w.sadd('s', 'x') }))
      assertCheckpoint(await readFresh(world), 0, 120)
    },
  ),
  storeCase(
    {
      id: 'PST-33',
      title: 'positions that differ only beyond 2^53 are told apart',
      promises: ['CKP-20'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      const beyond = 2n ** 53n
      await damageOf(world).setCheckpointField(identity.topic, 0, 'next_offset', String(beyond + 1n))
      assert.equal((await advance(started, { from: beyond, to: beyond + 5n })).kind, 'conflict')
      assert.deepEqual(await advance(started, { from: beyond + 1n, to: beyond + 2n }), advanced)
      assertCheckpoint(await readFresh(world), 0, beyond + 2n)
      const last = 2n ** 63n - 1n
      assert.deepEqual(await advance(started, { from: beyond + 2n, to: last }), advanced)
      assertCheckpoint(await readFresh(world), 0, last)
    },
  ),
  storeCase(
    {
      id: 'PST-34',
      title: 'a step under another stored identity is a conflict, field by field',
      promises: ['CKP-20'],
      needs: ['damage', 'fingerprint', 'fenced-writes'],
    },
    async (world) => {
      const started = await startStore(world)
      const fields = {
        format_version: '2',
        dispatch_topic: 'other',
        partition_count: '4',
        cluster_id: 'other',
        topic_id: 'aaaaaaaa-ef7f-96bd-9d9a-2d48fd68e2f5',
        partition: '1',
      }
      const restore = (await readFresh(world)).checkpoints.get(0)!
      for (const [field, text] of Object.entries(fields)) {
        for (const changed of [text, undefined]) {
          await damageOf(world).setCheckpointField(identity.topic, 0, field, changed)
          const before = await fingerprintOf(world)
          const outcome = await advance(started, { from: 0, to: 1, write: (w) => w.sadd('s', field) })
          assert.equal(outcome.kind, 'conflict', `${field} = ${changed ?? 'missing'}`)
          assert.equal(await fingerprintOf(world), before, `${field} = ${changed ?? 'missing'}`)
          await damageOf(world).setCheckpointField(identity.topic, 0, field, restore[field])
        }
      }
      assert.deepEqual(await advance(started, { from: 0, to: 1 }), advanced)
    },
  ),
  storeCase(
    {
      id: 'PST-35',
      title: 'a step over a deleted or changed meta is a conflict',
      promises: ['CKP-20', 'CK-14'],
      needs: ['damage', 'fingerprint', 'fenced-writes', 'fenced-meta'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).setMetaField('cluster_id', 'other')
      const changed = await fingerprintOf(world)
      assert.equal((await advance(started, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') })).kind, 'conflict')
      assert.equal(await fingerprintOf(world), changed)
      await damageOf(world).removeMeta()
      const removed = await fingerprintOf(world)
      assert.equal((await advance(started, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') })).kind, 'conflict')
      assert.equal(await fingerprintOf(world), removed)
    },
  ),
  storeCase(
    {
      id: 'PST-36',
      title: 'a step without a stored checkpoint is a conflict and creates none',
      promises: ['CKP-20', 'A9'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).removeCheckpoint(identity.topic, 0)
      assert.equal((await advance(started, { from: 0, to: 1 })).kind, 'conflict')
      const state = await readFresh(world)
      assert.deepEqual(partitionsOf(state.checkpoints), [1, 2])
      assert.equal(state.witnesses.size, 0)
    },
  ),
  storeCase(
    { id: 'PST-37', title: 'a resent step is success, said to be one, and moves nothing again', promises: ['CKP-21'] },
    async (world) => {
      const started = await startStore(world)
      const request = advanceRequest(started, { from: 0, to: 3, write: (w) => w.zadd('z', 'GT', 1, 'm') })
      assert.deepEqual(await started.store.advance(request), advanced)
      for (let again = 0; again < 3; again += 1) {
        assert.deepEqual(await started.store.advance(request), { kind: 'advanced', resent: true })
      }
      const state = await readFresh(world)
      assertCheckpoint(state, 0, 3)
      assert.deepEqual(await world.readData(['z']), [{ kind: 'sorted-set', scores: new Map([['m', 1]]) }])
    },
  ),
  storeCase(
    {
      id: 'PST-38',
      title: 'a target reached by another writer is no success of the older one',
      promises: ['CKP-21', 'CKP-22', 'A8'],
    },
    async (world) => {
      const older = await startStore(world)
      const newer = await claimStore(world)
      assert.deepEqual(await advance(newer, { from: 0, to: 3 }), advanced)
      assert.equal((await advance(older, { from: 0, to: 3 })).kind, 'fenced')
    },
  ),
  storeCase(
    {
      id: 'PST-39',
      title: 'a step under a taken fence is fenced, names the holder, and writes nothing',
      promises: ['CKP-22', 'CK-49', 'A8'],
      needs: ['fingerprint', 'fenced-writes'],
    },
    async (world) => {
      const older = await startStore(world)
      await advance(older, { from: 0, to: 2 })
      const newer = await claimStore(world)
      const before = await fingerprintOf(world)
      const outcome = await advance(older, { from: 2, to: 3, write: (w) => w.sadd('s', 'late') })
      assert.deepEqual(outcome, { kind: 'fenced', found: encodeFence(newer.fences.get(0)!) })
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-40',
      title: 'fences are told apart by nonce: the same epoch issued twice is two writers',
      promises: ['CKP-22', 'A8'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      const { epoch } = started.fences.get(0)!
      await damageOf(world).setFence(identity.topic, 0, `${epoch}:${'cd'.repeat(16)}`)
      assert.equal((await advance(started, { from: 0, to: 1 })).kind, 'fenced')
      assertCheckpoint(await readFresh(world), 0, 0)
    },
  ),
  storeCase(
    {
      id: 'PST-41',
      title: 'a missing or damaged fence is a loss',
      promises: ['CKP-22'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).setFence(identity.topic, 0, undefined)
      assert.deepEqual(await advance(started, { from: 0, to: 1 }), { kind: 'fenced', found: undefined })
      const { epoch, nonce } = started.fences.get(0)!
      for (const text of ['', 'held', `${epoch}:`, `:${nonce}`, `${nonce}`]) {
        await damageOf(world).setFence(identity.topic, 0, text)
        assert.equal((await advance(started, { from: 0, to: 1 })).kind, 'fenced', text)
      }
      assertCheckpoint(await readFresh(world), 0, 0)
    },
  ),
  storeCase(
    {
      id: 'PST-42',
      title: 'a lost fence of one partition leaves the others writable',
      promises: ['CKP-22'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).setFence(identity.topic, 0, `8:${'ef'.repeat(16)}`)
      assert.equal((await advance(started, { from: 0, to: 1 })).kind, 'fenced')
      assert.deepEqual(await advance(started, { partition: 1, from: 0, to: 1 }), advanced)
    },
  ),
  storeCase(
    { id: 'PST-43', title: 'a step that only passes a gap moves the checkpoint and keeps the witness' },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 3 })
      assert.deepEqual(await advance(started, { from: 3, to: 9, witness: undefined }), advanced)
      const state = await readFresh(world)
      assertCheckpoint(state, 0, 9)
      assert.equal(state.witnesses.get(0), encodeWitness(witnessOf(recordAt(2))))
      // A gap at the very start leaves no witness at all.
      assert.deepEqual(await advance(started, { partition: 1, from: 0, to: 2, witness: undefined }), advanced)
      assert.equal((await readFresh(world)).witnesses.has(1), false)
    },
  ),
  storeCase(
    {
      id: 'PST-44',
      title: 'a step meant for another server process writes nothing',
      promises: ['CKP-24'],
      needs: ['fingerprint'],
    },
    async (world) => {
      const started = await startStore(world)
      const before = await fingerprintOf(world)
      const words = { from: 0, to: 1, write: (w: { sadd(key: string, member: string): void }) => w.sadd('s', 'm') }
      const outcome = await advance(started, { ...words, process: 'another life' })
      assert.equal(outcome.kind, 'process-changed')
      assert.notEqual(outcome.kind === 'process-changed' && outcome.process, 'another life')
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-49',
      title: 'a step meant for another server process is told which one answers',
      promises: ['CKP-24'],
      needs: ['one-process'],
    },
    async (world) => {
      const started = await startStore(world)
      const outcome = await advance(started, { from: 0, to: 1, process: 'another life' })
      assert.deepEqual(outcome, { kind: 'process-changed', process: started.process })
    },
  ),
  storeCase(
    {
      id: 'PST-45',
      title: 'quarantine entries come with their step and count once',
      needs: [],
    },
    async (world) => {
      const started = await startStore(world)
      const quarantine = [1, 2].map((offset) => quarantineEntryOf(recordAt(offset), `reason ${offset}`))
      const request = advanceRequest(started, { from: 0, to: 3, quarantine })
      assert.deepEqual(await started.store.advance(request), advanced)
      assert.deepEqual(await started.store.advance(request), { kind: 'advanced', resent: true })
      assert.equal((await readFresh(world)).quarantined.get(0), 2)
      const late = [quarantineEntryOf(recordAt(3), 'late')]
      await assertNotAdvanced(advance(started, { from: 1, to: 4, quarantine: late }))
      const state = await readFresh(world)
      assert.equal(state.quarantined.get(0), 2)
      assert.equal(state.quarantined.get(1) ?? 0, 0)
    },
  ),
  storeCase(
    { id: 'PST-46', title: 'quarantine entries are stored as their canonical text', needs: ['quarantine-reading'] },
    async (world) => {
      const started = await startStore(world)
      const entries = [0, 1].map((offset) => quarantineEntryOf(recordAt(offset), `"quoted"\n💧 ${offset}`))
      await advance(started, { from: 0, to: 2, quarantine: entries })
      assert.ok(world.readQuarantine)
      const texts = await world.readQuarantine(identity.topic, 0)
      assert.deepEqual([...texts].sort(), entries.map(encodeQuarantineEntry).sort())
    },
  ),
  storeCase(
    {
      id: 'PST-47',
      title: 'steps of different partitions do not touch each other, even in one key',
      needs: ['shared-keys'],
    },
    async (world) => {
      const started = await startStore(world)
      const steps = [0, 1, 2].map((partition) =>
        advance(started, { partition, from: 0, to: 10 + partition, write: (w) => w.sadd('shared', `p${partition}`) }),
      )
      assert.deepEqual(await Promise.all(steps), [advanced, advanced, advanced])
      const state = await readFresh(world)
      for (const partition of [0, 1, 2]) assertCheckpoint(state, partition, 10 + partition)
      assert.deepEqual(await world.readData(['shared']), [{ kind: 'set', members: new Set(['p0', 'p1', 'p2']) }])
    },
  ),
  storeCase({ id: 'PST-48', title: 'checkpoints of different partitions move each for itself' }, async (world) => {
    const started = await startStore(world)
    const steps = [0, 1, 2].map((partition) => advance(started, { partition, from: 0, to: 10 + partition }))
    assert.deepEqual(await Promise.all(steps), [advanced, advanced, advanced])
    const step = { from: 10, to: 20, write: (w: { sadd(key: string, member: string): void }) => w.sadd('own', 'm') }
    assert.deepEqual(await advance(started, step), advanced)
    const state = await readFresh(world)
    for (const [partition, next] of [20, 11, 12].entries()) {
      assertCheckpoint(state, partition, next)
      assert.equal(state.witnesses.get(partition), encodeWitness(witnessOf(recordAt(next - 1, partition))))
    }
    assert.deepEqual(await world.readData(['own']), [{ kind: 'set', members: new Set(['m']) }])
  }),
]
