import { strict as assert } from 'node:assert'
import type { CommutingWriter } from '@tidemark/checkpoint'
import { encodeWitness, witnessOf } from '@tidemark/log'
import {
  advance,
  assertCheckpoint,
  assertNotAdvanced,
  identity,
  readFresh,
  readRequest,
  recordAt,
  sidesOf,
  startStore,
  storeCase,
} from './store-fixture.ts'
import type { StoreCase } from './store-fixture.ts'
import type { ProjectionStoreWorld } from './projection-store-world.ts'

const advanced = { kind: 'advanced', resent: false }
const { topic } = identity

const adding =
  (member: string) =>
  (writer: CommutingWriter): void =>
    writer.sadd('s', member)

async function assertMembers(world: ProjectionStoreWorld, ...members: readonly string[]): Promise<void> {
  const expected = members.length === 0 ? { kind: 'absent' } : { kind: 'set', members: new Set(members) }
  assert.deepEqual(await world.readData(['s']), [expected])
}

/** Data on another server than its checkpoints: which of the two moves, which waits, and what either one stops. */
export const storeApartCases: readonly StoreCase[] = [
  storeCase(
    {
      id: 'PST-80',
      title: 'reading says how far the data is, beside the checkpoint, and why it cannot say so',
      promises: ['CKP-50', 'CK-46'],
      needs: ['data-apart'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 5 })
      const positions = new Map([5, 0, 0].map((next, partition) => [partition, String(next)]))
      assert.deepEqual(new Map((await readFresh(world)).twins), positions)
      await sidesOf(world).setDataPosition(topic, 0, '2')
      await sidesOf(world).setDataPosition(topic, 1, '007')
      await sidesOf(world).setDataPosition(topic, 2, undefined)
      const state = await readFresh(world)
      for (const [partition, next] of [5, 0, 0].entries()) assertCheckpoint(state, partition, next)
      assert.equal(state.twins?.get(0), '2')
      assert.doesNotMatch(state.twins?.get(1) ?? '', /^\d*$/)
      assert.doesNotMatch(state.twins?.get(2) ?? 'none', /^\d*$/)
    },
  ),
  storeCase(
    {
      id: 'PST-81',
      title: 'data that is behind is written again from its own position, and the checkpoint waits until it is passed',
      promises: ['CKP-50'],
      needs: ['data-apart'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 5 })
      await sidesOf(world).setDataPosition(topic, 0, '2')
      const first = { from: 2, to: 4, apart: { data: 2, checkpoint: 5 }, write: adding('2') }
      assert.deepEqual(await advance(started, first), advanced)
      await assertMembers(world, '2')
      const behind = await readFresh(world)
      assertCheckpoint(behind, 0, 5)
      assert.equal(behind.twins?.get(0), '4')
      assert.equal(behind.witnesses.get(0), encodeWitness(witnessOf(recordAt(3))))
      const second = { from: 4, to: 7, apart: { data: 4, checkpoint: 5 }, write: adding('4') }
      assert.deepEqual(await advance(started, second), advanced)
      await assertMembers(world, '2', '4')
      const level = await readFresh(world)
      assertCheckpoint(level, 0, 7)
      assert.equal(level.twins?.get(0), '7')
      assert.deepEqual(await advance(started, { from: 7, to: 8, write: adding('7') }), advanced)
    },
  ),
  storeCase(
    {
      id: 'PST-82',
      title: 'what the data holds already is not written again; the checkpoint follows',
      promises: ['CKP-50'],
      needs: ['data-apart'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 3 })
      await sidesOf(world).setDataPosition(topic, 0, '7')
      const step = { from: 3, to: 5, apart: { data: 7, checkpoint: 3 }, write: adding('3') }
      assert.equal((await advance(started, step)).kind, 'advanced')
      const ahead = await readFresh(world)
      assertCheckpoint(ahead, 0, 5)
      assert.equal(ahead.twins?.get(0), '7')
      assert.equal(
        (await advance(started, { ...step, from: 5, to: 7, apart: { data: 7, checkpoint: 5 } })).kind,
        'advanced',
      )
      await assertMembers(world)
      assert.deepEqual(await advance(started, { from: 7, to: 9, write: adding('7') }), advanced)
      await assertMembers(world, '7')
      assertCheckpoint(await readFresh(world), 0, 9)
    },
  ),
  storeCase(
    {
      id: 'PST-83',
      title: 'a fence taken beside the data alone stops a step before it writes, and shows in reading',
      promises: ['CKP-52', 'A8'],
      needs: ['data-apart'],
    },
    async (world) => {
      const started = await startStore(world)
      const taken = `9:${'cd'.repeat(16)}`
      await sidesOf(world).setDataFence(topic, 0, taken)
      const outcome = await advance(started, { from: 0, to: 2, write: adding('late') })
      assert.deepEqual(outcome, { kind: 'fenced', found: taken })
      await assertMembers(world)
      const state = await started.store.read(readRequest)
      assertCheckpoint(state, 0, 0)
      assert.equal(state.fences.get(0), taken)
      await sidesOf(world).setDataFence(topic, 1, undefined)
      const lost = await advance(started, { partition: 1, from: 0, to: 2, write: adding('late') })
      assert.deepEqual(lost, { kind: 'fenced', found: undefined })
      assert.equal((await started.store.read(readRequest)).fences.has(1), false)
    },
  ),
  storeCase(
    {
      id: 'PST-84',
      title: 'data that is gone stops every step, and no checkpoint moves without it',
      promises: ['CKP-51', 'CK-46', 'A9'],
      needs: ['data-apart'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 2 })
      await sidesOf(world).restart('data', { empty: true })
      await assertNotAdvanced(advance(started, { from: 2, to: 3, write: adding('late') }))
      const store = await world.openStore()
      const { incarnation } = await store.read(readRequest)
      assert.notEqual(incarnation.process, started.process)
      assert.equal(incarnation.nonce, undefined)
      // Even a writer that took the new process for its own is stopped by what is missing.
      const again = { ...started, store, process: incarnation.process }
      await assertNotAdvanced(advance(again, { from: 2, to: 3, write: adding('late') }))
      const state = await readFresh(world)
      assertCheckpoint(state, 0, 2)
      assert.equal(state.twins?.size, 0)
      await assertMembers(world)
    },
  ),
  storeCase(
    {
      id: 'PST-85',
      title:
        'a step whose data was confirmed before the checkpoints turned out to be on another process says where the data is',
      promises: ['CKP-51'],
      needs: ['data-apart'],
    },
    async (world) => {
      const started = await startStore(world)
      await sidesOf(world).restart('checkpoints', { empty: false })
      // The first call may only find that the connection is gone.
      const step = { from: 0, to: 3, write: adding('0') }
      const outcome = await advance(started, step).catch(() => advance(started, step))
      assert.equal(outcome.kind, 'process-changed')
      assert.equal(outcome.kind === 'process-changed' && outcome.dataAt, 3n)
      await assertMembers(world, '0')
      const { incarnation } = await started.store.read(readRequest)
      const again = { ...started, process: incarnation.process }
      assert.equal((await advance(again, { ...step, apart: { data: 3, checkpoint: 0 } })).kind, 'advanced')
      assertCheckpoint(await readFresh(world), 0, 3)
    },
  ),
]
