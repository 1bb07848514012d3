import { strict as assert } from 'node:assert'
import {
  advance,
  assertCheckpoint,
  assertNotAdvanced,
  damageOf,
  fingerprintOf,
  identity,
  readFresh,
  readRequest,
  startStore,
  storeCase,
} from './store-fixture.ts'
import type { StoreCase } from './store-fixture.ts'

const advanced = { kind: 'advanced', resent: false }

/** What a failing write, a restarted and an emptied server may leave behind. */
export const storeFailureCases: readonly StoreCase[] = [
  storeCase(
    {
      id: 'PST-60',
      title: 'the checkpoint comes last: a write that fails keeps it where it was',
      promises: ['CKP-23', 'A1'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).putString('blocked', 'a plain string')
      await assert.rejects(
        advance(started, {
          from: 0,
          to: 3,
          write(w) {
            w.sadd('before', 'm')
            w.sadd('blocked', 'm')
            w.sadd('after', 'm')
          },
        }),
      )
      const state = await readFresh(world)
      assertCheckpoint(state, 0, 0)
      assert.equal(state.witnesses.has(0), false)
      assert.deepEqual((await world.readData(['blocked']))[0], { kind: 'string', value: 'a plain string' })
    },
  ),
  storeCase(
    {
      id: 'PST-61',
      title: 'a step that fails midway leaves nothing of itself',
      promises: ['CKP-23'],
      needs: ['damage', 'fingerprint', 'rollback'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).putString('blocked', 'a plain string')
      const before = await fingerprintOf(world)
      await assert.rejects(
        advance(started, {
          from: 0,
          to: 3,
          write(w) {
            w.sadd('before', 'm')
            w.sadd('blocked', 'm')
          },
        }),
      )
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-62',
      title: 'a failed step can be repeated once its cause is gone, and ends complete',
      promises: ['CKP-23', 'A1'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).putString('blocked', 'x')
      const words = {
        from: 0,
        to: 2,
        write(w: { sadd(key: string, member: string): void }) {
          w.sadd('first', 'm')
          w.sadd('blocked', 'm')
        },
      }
      await assert.rejects(advance(started, words))
      await damageOf(world).putString('blocked', '')
      await assertNotAdvanced(advance(started, words))
      const renamed = { ...words, write: (w: { sadd(key: string, member: string): void }) => w.sadd('first', 'm') }
      assert.deepEqual(await advance(started, renamed), advanced)
      assertCheckpoint(await readFresh(world), 0, 2)
    },
  ),
  storeCase(
    {
      id: 'PST-63',
      title: 'a step onto a checkpoint of another kind writes nothing and does not repair it',
      promises: ['CKP-20'],
      needs: ['damage', 'fingerprint', 'fenced-writes'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).putWrongKind({ topic: identity.topic, partition: 0 })
      const before = await fingerprintOf(world)
      await assertNotAdvanced(advance(started, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') }))
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-66',
      title: 'a step onto a meta of another kind writes nothing and does not repair it',
      promises: ['CKP-20'],
      needs: ['damage', 'fingerprint', 'fenced-writes', 'fenced-meta'],
    },
    async (world) => {
      const started = await startStore(world)
      await damageOf(world).putWrongKind('meta')
      const before = await fingerprintOf(world)
      await assertNotAdvanced(advance(started, { partition: 1, from: 0, to: 1, write: (w) => w.sadd('s', 'm') }))
      assert.equal(await fingerprintOf(world), before)
    },
  ),
  storeCase(
    {
      id: 'PST-67',
      title: 'a step onto a checkpoint of another kind does not advance, whatever becomes of the data',
      promises: ['CKP-20'],
      needs: ['damage'],
    },
    async (world) => {
      const started = await startStore(world)
      const keys = [await damageOf(world).putWrongKind({ topic: identity.topic, partition: 0 })].flat()
      await assertNotAdvanced(advance(started, { from: 0, to: 1, write: (w) => w.sadd('s', 'm') }))
      const state = await readFresh(world)
      assert.deepEqual(state.unreadable.map(({ key }) => key).sort(), [...keys].sort())
      assert.equal(state.checkpoints.has(0), false)
    },
  ),
  storeCase(
    {
      id: 'PST-64',
      title: 'after a restart that kept the data, the old process name writes nothing and the new one goes on',
      promises: ['CKP-24', 'A9'],
      needs: ['restart'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 2 })
      assert.ok(world.restart)
      await world.restart({ empty: false })
      await assertNotAdvanced(advance(started, { from: 2, to: 3, write: (w) => w.sadd('s', 'late') }))
      assert.deepEqual(await world.readData(['s']), [{ kind: 'absent' }])
      const store = await world.openStore()
      const { incarnation } = await store.read(readRequest)
      assert.notEqual(incarnation.process, started.process)
      assert.equal(incarnation.nonce, started.nonce)
      const again = { ...started, store, process: incarnation.process }
      assert.deepEqual(await advance(again, { from: 2, to: 3 }), advanced)
    },
  ),
  storeCase(
    {
      id: 'PST-65',
      title: 'after a restart that lost everything, no step leaves a lone checkpoint',
      promises: ['CKP-22', 'CKP-24', 'A9'],
      needs: ['empty-restart', 'fenced-writes'],
    },
    async (world) => {
      const started = await startStore(world)
      await advance(started, { from: 0, to: 2 })
      assert.ok(world.restart)
      await world.restart({ empty: true })
      await assertNotAdvanced(advance(started, { from: 2, to: 3, write: (w) => w.sadd('s', 'late') }))
      const store = await world.openStore()
      const { incarnation } = await store.read(readRequest)
      const again = { ...started, store, process: incarnation.process }
      // Even a writer that took the new process for its own is stopped by what is missing.
      await assertNotAdvanced(advance(again, { from: 2, to: 3, write: (w) => w.sadd('s', 'late') }))
      const state = await readFresh(world)
      assert.equal(state.meta, undefined)
      assert.equal(state.checkpoints.size, 0)
      assert.equal(state.witnesses.size, 0)
      assert.equal(state.incarnation.nonce, undefined)
      assert.deepEqual(await world.readData(['s']), [{ kind: 'absent' }])
      const restarted = await startStore(world)
      assert.notEqual(restarted.nonce, started.nonce)
    },
  ),
]
