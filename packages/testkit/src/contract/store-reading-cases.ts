import { strict as assert } from 'node:assert'
import { STRAY_PARTITIONS_SEARCHED } from '@tidemark/checkpoint'
import {
  advance,
  assertCheckpoint,
  assertMeta,
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

/** What reading must find, and that it changes nothing. */
export const storeReadingCases: readonly StoreCase[] = [
  storeCase(
    { id: 'PST-01', title: 'reading an empty namespace finds nothing and writes nothing', needs: ['fingerprint'] },
    async (world) => {
      const store = await world.openStore()
      const before = await fingerprintOf(world)
      for (const partitionCount of [undefined, 3]) {
        const state = await store.read({ topic: identity.topic, partitionCount })
        assert.equal(state.meta, undefined)
        const sizes = [state.checkpoints, state.fences, state.witnesses].map((map) => map.size)
        assert.deepEqual(sizes, [0, 0, 0])
        assert.deepEqual(state.unreadable, [])
        assert.equal(state.incarnation.nonce, undefined)
      }
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-02',
      title: 'reading a full namespace gives the stored bytes and writes nothing',
      needs: ['fingerprint'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 5, write: (w) => w.sadd('s', 'm') })
      const before = await fingerprintOf(world)
      const state = await readFresh(world)
      assertMeta(state)
      for (const [partition, next] of [5, 0, 0].entries()) assertCheckpoint(state, partition, next)
      assert.equal(state.incarnation.nonce, started.nonce)
      assert.equal(state.incarnation.process, started.process)
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-03',
      title: 'a stray checkpoint is found up to 1,024 beyond the stored and the asked count',
      promises: ['CK-23'],
      needs: ['damage'],
    },
    async (world) => {
      const { store } = await startStore(world)
      const farthest = identity.partitionCount + STRAY_PARTITIONS_SEARCHED - 1
      for (const partition of [3, 7, farthest]) {
        await damageOf(world).setCheckpointField(identity.topic, partition, 'next_offset', '1')
      }
      for (const partitionCount of [undefined, identity.partitionCount]) {
        const state = await store.read({ topic: identity.topic, partitionCount })
        assert.deepEqual(partitionsOf(state.checkpoints), [0, 1, 2, 3, 7, farthest])
      }
      // A topic that shrank in the meantime still leaves the old count to search from.
      const shrunk = await store.read({ topic: identity.topic, partitionCount: 1 })
      assert.ok(shrunk.checkpoints.has(2) && shrunk.checkpoints.has(7))
    },
  ),
  storeCase(
    {
      id: 'PST-04',
      title: 'a key of another kind is reported by name, and the rest is still read',
      needs: ['damage', 'fingerprint'],
    },
    async (world) => {
      const { store } = await startStore(world)
      const checkpoint = await damageOf(world).putWrongKind({ topic: identity.topic, partition: 1 })
      const meta = await damageOf(world).putWrongKind('meta')
      const before = await fingerprintOf(world)
      const state = await store.read(readRequest)
      assert.deepEqual(state.unreadable.map(({ key }) => key).sort(), [checkpoint, meta].flat().sort())
      assert.equal(state.meta, undefined)
      assert.equal(state.checkpoints.has(1), false)
      assertCheckpoint(state, 0, 0)
      assertCheckpoint(state, 2, 0)
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-05',
      title: 'damaged fields come back exactly as stored: empty, long, strange',
      promises: ['CK-57'],
      needs: ['damage'],
    },
    async (world) => {
      const { store } = await startStore(world)
      const texts = ['', ' 7', '007', '\u0000\n"quoted"', '💧{x}:y', 'z'.repeat(5_000)]
      for (const [index, text] of texts.entries()) {
        await damageOf(world).setCheckpointField(identity.topic, 0, 'next_offset', text)
        await damageOf(world).setMetaField(`extra_${index}`, text)
        const state = await store.read(readRequest)
        assert.equal(state.checkpoints.get(0)?.['next_offset'], text)
        assert.equal(state.meta?.[`extra_${index}`], text)
      }
    },
  ),
  storeCase({ id: 'PST-06', title: 'the store says of itself what a start needs to know' }, async (world) => {
    const { store } = await startStore(world)
    const { facts, incarnation } = await store.read(readRequest)
    assert.ok(['process', 'server', 'fsync', 'replicated'].includes(facts.durability), facts.durability)
    assert.equal(facts.isPrimary, true)
    assert.equal(facts.isLoaded, true)
    assert.deepEqual(facts.expiringKeys, [])
    assert.equal(facts.database.found, facts.database.expected)
    assert.notEqual(facts.eviction.policy, '')
    assert.notEqual(incarnation.process, '')
  }),
  storeCase(
    {
      id: 'PST-07',
      title: 'a checkpoint that carries an expiry is named',
      promises: ['CK-43'],
      needs: ['expiry'],
    },
    async (world) => {
      const { store } = await startStore(world)
      assert.ok(world.expireCheckpoint)
      const key = await world.expireCheckpoint(identity.topic, 2)
      const { facts } = await store.read(readRequest)
      assert.deepEqual(facts.expiringKeys, [key])
    },
  ),
  storeCase(
    { id: 'PST-08', title: 'closing twice is harmless, and a closed store rejects instead of waiting' },
    async (world) => {
      const { store } = await startStore(world)
      await store.close()
      await store.close()
      await assert.rejects(store.read(readRequest))
    },
  ),
]
