import { strict as assert } from 'node:assert'
import { decodeFence, encodeFence } from '@tidemark/log'
import {
  advance,
  assertCheckpoint,
  assertFences,
  assertMeta,
  claimStore,
  damageOf,
  fingerprintOf,
  identity,
  partitionsOf,
  readFresh,
  readRequest,
  startStore,
  storeCase,
} from './store-fixture.ts'
import type { StoreCase } from './store-fixture.ts'

/** Claiming fences and creating the first checkpoints. */
export const storeStartingCases: readonly StoreCase[] = [
  storeCase(
    { id: 'PST-10', title: 'a claim takes a fence per partition, each with a nonce of its own' },
    async (world) => {
      const first = await claimStore(world)
      assert.deepEqual(partitionsOf(first.fences), [0, 1, 2])
      const state = await readFresh(world)
      assertFences(state, first.fences)
      const second = await claimStore(world)
      const nonces = [...first.fences.values(), ...second.fences.values()].map((fence) => fence.nonce)
      assert.equal(new Set(nonces).size, 6)
      for (const [partition, fence] of second.fences) {
        assert.ok(fence.epoch > first.fences.get(partition)!.epoch)
        assert.deepEqual(decodeFence(encodeFence(fence)), fence)
      }
    },
  ),
  storeCase({ id: 'PST-11', title: 'a claim changes fences and nothing else', needs: ['damage'] }, async (world) => {
    const started = await startStore(world)
    await advance(started, { from: 0, to: 4, write: (w) => w.zadd('z', 'GT', 1, 'm') })
    await damageOf(world).setMetaField('cluster_id', 'somebody else')
    const before = await readFresh(world)
    await claimStore(world)
    const after = await readFresh(world)
    const rest = ({ meta, checkpoints, witnesses, quarantined, incarnation }: typeof before): unknown => ({
      meta,
      checkpoints,
      witnesses,
      quarantined,
      incarnation,
    })
    assert.deepEqual(rest(after), rest(before))
  }),
  storeCase(
    { id: 'PST-12', title: 'a claim gives no incarnation nonce, the first bootstrap does, and later ones keep it' },
    async (world) => {
      const claimed = await claimStore(world)
      assert.equal(claimed.nonce, undefined)
      const started = await startStore(world)
      assert.match(started.nonce ?? '', /^[0-9a-f]{32}$/)
      const { store, fences } = await claimStore(world)
      const again = await store.bootstrap({ identity, createMeta: false, partitions: [], fences })
      assert.deepEqual(again, { kind: 'created' })
      assert.equal((await readFresh(world)).incarnation.nonce, started.nonce)
    },
  ),
  storeCase({ id: 'PST-13', title: 'a claim over a damaged fence replaces it', needs: ['damage'] }, async (world) => {
    await startStore(world)
    await damageOf(world).setFence(identity.topic, 1, 'not a fence')
    const later = await claimStore(world)
    assertFences(await readFresh(world), later.fences)
    assert.deepEqual(await advance(later, { partition: 1, from: 0, to: 1 }), { kind: 'advanced', resent: false })
  }),
  storeCase(
    { id: 'PST-14', title: 'bootstrap writes meta and every checkpoint at 0, byte for byte', promises: ['CKP-1'] },
    async (world) => {
      await startStore(world)
      const state = await readFresh(world)
      assertMeta(state)
      assert.deepEqual(partitionsOf(state.checkpoints), [0, 1, 2])
      for (const partition of [0, 1, 2]) assertCheckpoint(state, partition, 0)
      assert.equal(state.witnesses.size, 0)
    },
  ),
  storeCase(
    { id: 'PST-15', title: 'a second bootstrap is a conflict and changes nothing', needs: ['fingerprint'] },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 9 })
      const before = await fingerprintOf(world)
      const { store, fences } = started
      const outcome = await store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })
      assert.equal(outcome.kind, 'conflict')
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-16',
      title: 'bootstrap is all or none: one checkpoint in the way stops them all',
      needs: ['damage', 'fingerprint', 'whole-bootstrap'],
    },
    async (world) => {
      const { store, fences } = await startStore(world)
      await damageOf(world).removeCheckpoint(identity.topic, 0)
      const before = await fingerprintOf(world)
      const outcome = await store.bootstrap({ identity, createMeta: false, partitions: [0, 1], fences })
      assert.equal(outcome.kind, 'conflict')
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-17',
      title: 'bootstrap without meta being there, or under another identity, is a conflict',
      needs: ['damage', 'fingerprint', 'whole-bootstrap'],
    },
    async (world) => {
      const { store, fences } = await startStore(world)
      await damageOf(world).removeCheckpoint(identity.topic, 2)
      await damageOf(world).setMetaField('topic_id', 'aaaaaaaa-ef7f-96bd-9d9a-2d48fd68e2f5')
      const altered = await fingerprintOf(world)
      const request = { identity, createMeta: false, partitions: [2], fences }
      assert.equal((await store.bootstrap(request)).kind, 'conflict')
      assert.equal(await fingerprintOf(world), altered)
      await damageOf(world).removeMeta()
      const removed = await fingerprintOf(world)
      assert.equal((await store.bootstrap(request)).kind, 'conflict')
      assert.equal(await fingerprintOf(world), removed)
    },
  ),
  storeCase(
    {
      id: 'PST-18',
      title: 'a lost checkpoint is created at 0 again, without the witness of its former position',
      promises: ['CK-19'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { partition: 1, from: 0, to: 6 })
      await advance(started, { partition: 2, from: 0, to: 4 })
      await damageOf(world).removeCheckpoint(identity.topic, 1)
      const { store, fences } = started
      const outcome = await store.bootstrap({ identity, createMeta: false, partitions: [1], fences })
      assert.deepEqual(outcome, { kind: 'created' })
      const state = await readFresh(world)
      for (const [partition, next] of [0, 0, 4].entries()) assertCheckpoint(state, partition, next)
      // A witness at or beyond the position would be taken for damage at the next start.
      assert.deepEqual([...state.witnesses.keys()], [2])
    },
  ),
  storeCase(
    { id: 'PST-19', title: 'bootstrap under a fence lost meanwhile creates nothing', needs: ['fingerprint'] },
    async (world) => {
      const older = await claimStore(world)
      await claimStore(world)
      const before = await fingerprintOf(world)
      const outcome = await older.store.bootstrap({
        identity,
        createMeta: true,
        partitions: [0, 1, 2],
        fences: older.fences,
      })
      assert.equal(outcome.kind, 'fenced')
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-20',
      title: 'bootstrap stops at one lost fence of three',
      needs: ['damage', 'fingerprint', 'whole-bootstrap'],
    },
    async (world) => {
      const { store, fences } = await claimStore(world)
      await damageOf(world).setFence(identity.topic, 2, `9:${'ab'.repeat(16)}`)
      const before = await fingerprintOf(world)
      const outcome = await store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })
      assert.equal(outcome.kind, 'fenced')
      assert.equal(outcome.kind === 'fenced' && outcome.partition, 2)
      assert.equal(await fingerprintOf(world), before)
      assert.equal((await store.read(readRequest)).meta, undefined)
    },
  ),
  storeCase(
    {
      id: 'PST-21',
      title: 'bootstrap without meta being there, or under another identity, is a conflict and creates no checkpoint',
      needs: ['damage'],
    },
    async (world) => {
      const { store, fences } = await startStore(world)
      await damageOf(world).removeCheckpoint(identity.topic, 2)
      await damageOf(world).setMetaField('topic_id', 'aaaaaaaa-ef7f-96bd-9d9a-2d48fd68e2f5')
      const request = { identity, createMeta: false, partitions: [2], fences }
      assert.equal((await store.bootstrap(request)).kind, 'conflict')
      const changed = await readFresh(world)
      assert.deepEqual(partitionsOf(changed.checkpoints), [0, 1])
      assert.equal(changed.meta?.['topic_id'], 'aaaaaaaa-ef7f-96bd-9d9a-2d48fd68e2f5')
      await damageOf(world).removeMeta()
      assert.equal((await store.bootstrap(request)).kind, 'conflict')
      const removed = await readFresh(world)
      assert.deepEqual(partitionsOf(removed.checkpoints), [0, 1])
      assert.equal(removed.meta, undefined)
    },
  ),
  storeCase(
    {
      id: 'PST-22',
      title: 'bootstrap over a checkpoint that stands there is a conflict and leaves it where it is',
      promises: ['A9'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { partition: 1, from: 0, to: 6 })
      await damageOf(world).removeCheckpoint(identity.topic, 0)
      const { store, fences } = started
      const outcome = await store.bootstrap({ identity, createMeta: false, partitions: [0, 1], fences })
      assert.equal(outcome.kind, 'conflict')
      const state = await readFresh(world)
      assertCheckpoint(state, 1, 6)
      assertMeta(state)
      // Where it is not all or none, what came into being is a position at 0 and nothing else.
      if (state.checkpoints.has(0)) assertCheckpoint(state, 0, 0)
    },
  ),
  storeCase(
    {
      id: 'PST-23',
      title: 'bootstrap over one lost fence of three creates neither meta nor the checkpoint of the lost one',
      needs: ['damage'],
    },
    async (world) => {
      const { store, fences } = await claimStore(world)
      await damageOf(world).setFence(identity.topic, 2, `9:${'ab'.repeat(16)}`)
      const outcome = await store.bootstrap({ identity, createMeta: true, partitions: [0, 1, 2], fences })
      assert.deepEqual(outcome, { kind: 'fenced', partition: 2, found: `9:${'ab'.repeat(16)}` })
      const state = await readFresh(world)
      assert.equal(state.meta, undefined)
      assert.equal(state.incarnation.nonce, undefined)
      assert.equal(state.checkpoints.has(2), false)
    },
  ),
]
