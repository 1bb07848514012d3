import { describe, expect, it } from 'vitest'
import { createTransactionalMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import { createCommutingMemoryProjectionStore, createMemoryDataReader } from '@tidemark/checkpoint/memory'
import { createMemoryProjectionStore, createMemoryServer } from '@tidemark/checkpoint/memory'
import { checkpointKey, metaKey, namespaceOf, quarantineEntryOf } from '@tidemark/checkpoint'
import type { AdvanceOutcome, IdempotentWriter, ProjectionStore } from '@tidemark/checkpoint'
import { offsetOf, topicIdOf } from '@tidemark/core'
import { witnessOf } from '@tidemark/log'
import type { Fence, LogIdentity, LogRecord } from '@tidemark/log'

const identity: LogIdentity = {
  clusterId: 'cluster-a',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 2,
}
const namespace = namespaceOf('ns')
const checkpoint0 = checkpointKey(namespace, 'dispatch', 0)

function counter(): () => string {
  let count = 0
  return () => (count += 1).toString(16).padStart(32, '0')
}

function record(offset: number): LogRecord {
  const value = new TextEncoder().encode(`v${offset}`)
  return { partition: 0, offset: offsetOf(offset), leaderEpoch: 0, timestampMs: 1, key: null, value, headers: [] }
}

async function started() {
  const nonce = counter()
  const server = createMemoryServer({ nonce })
  const store = createMemoryProjectionStore({ namespace, server, nonce })
  const fences = await begin(store)
  return { nonce, server, store, fences }
}

async function begin(store: ProjectionStore<IdempotentWriter>): Promise<ReadonlyMap<number, Fence>> {
  const { fences } = await store.claim({ topic: 'dispatch', partitionCount: 2 })
  const outcome = await store.bootstrap({ identity, createMeta: true, partitions: [0, 1], fences })
  expect(outcome).toEqual({ kind: 'created' })
  return fences
}

interface Step {
  readonly from: number
  readonly to: number
  readonly fence: Fence
  readonly process: string
  readonly write?: (writer: IdempotentWriter) => void
}

function advance(store: ProjectionStore<IdempotentWriter>, step: Step): Promise<AdvanceOutcome> {
  const writes = store.newWrites()
  step.write?.(writes.writer)
  const { fence, process } = step
  const [from, to] = [offsetOf(step.from), offsetOf(step.to)]
  const witness = step.to === 0 ? undefined : witnessOf(record(step.to - 1))
  const quarantine = step.to === 3 ? [quarantineEntryOf(record(2), 'no recipients')] : []
  return store.advance({ identity, partition: 0, fence, process, from, to, writes, witness, quarantine })
}

describe('the memory projection store', () => {
  it('a step writes data, quarantine, witness and checkpoint together', async () => {
    const { server, store, fences } = await started()
    const fence = fences.get(0)!
    const write = (writer: IdempotentWriter): void => writer.zadd('convs:u', 'GT', 7, 'c')
    const outcome = await advance(store, { from: 0, to: 3, fence, process: server.process, write })
    expect(outcome).toEqual({ kind: 'advanced', resent: false })
    const state = await store.read({ topic: 'dispatch', partitionCount: 2 })
    expect(Object.entries(state.checkpoints.get(0)!)).toEqual([
      ['format_version', '1'],
      ['dispatch_topic', 'dispatch'],
      ['partition_count', '2'],
      ['cluster_id', 'cluster-a'],
      ['topic_id', identity.topicId],
      ['partition', '0'],
      ['next_offset', '3'],
    ])
    expect(state.quarantined).toEqual(new Map([[0, 1]]))
    expect(state.witnesses.get(0)).toContain('"offset":"2"')
    const [value] = await createMemoryDataReader(server).readValues(['convs:u'])
    expect(value).toEqual({ kind: 'sorted-set', scores: new Map([['c', 7]]) })
  })

  it('a step resent by the same writer succeeds; one from another position does not [CK-13]', async () => {
    const { server, store, fences } = await started()
    const step = { from: 0, to: 3, fence: fences.get(0)!, process: server.process }
    await advance(store, step)
    const before = server.snapshot()
    expect(await advance(store, step)).toEqual({ kind: 'advanced', resent: true })
    expect(await advance(store, { ...step, from: 1, to: 2 })).toEqual({
      kind: 'conflict',
      key: checkpoint0,
      field: 'next_offset',
      expected: '1',
      found: '3',
    })
    expect(server.snapshot()).toEqual(before)
  })

  it('the older writer is fenced by a later claim and writes nothing [CK-49]', async () => {
    const { nonce, server, store, fences } = await started()
    const newer = createMemoryProjectionStore({ namespace, server, nonce })
    await newer.claim({ topic: 'dispatch', partitionCount: 2 })
    const before = server.snapshot()
    const outcome = await advance(store, { from: 0, to: 1, fence: fences.get(0)!, process: server.process })
    expect(outcome.kind).toBe('fenced')
    const again = await store.bootstrap({ identity, createMeta: false, partitions: [0], fences })
    expect(again.kind).toBe('fenced')
    expect(server.snapshot()).toEqual(before)
  })

  it('meta deleted, a field changed or added in mid-run: conflict, nothing written [CK-14]', async () => {
    const damages: [string, string, string | undefined][] = [
      [metaKey(namespace), 'topic_id', 'other'],
      [checkpoint0, 'cluster_id', 'cluster-b'],
      [checkpoint0, 'surprise', 'field'],
      [checkpoint0, 'partition', undefined],
    ]
    for (const [key, field, value] of damages) {
      const { server, store, fences } = await started()
      server.setField(key, field, value)
      const before = server.snapshot()
      const outcome = await advance(store, { from: 0, to: 1, fence: fences.get(0)!, process: server.process })
      expect(outcome).toMatchObject({ kind: 'conflict', key, field, found: value })
      expect(server.snapshot()).toEqual(before)
    }
    const { server, store, fences } = await started()
    server.put(metaKey(namespace), { kind: 'absent' })
    const outcome = await advance(store, { from: 0, to: 1, fence: fences.get(0)!, process: server.process })
    expect(outcome).toMatchObject({ kind: 'conflict', key: metaKey(namespace), found: undefined })
  })

  it('a server restarted, empty or not, is another process: nothing is written', async () => {
    for (const empty of [false, true]) {
      const { server, store, fences } = await started()
      const step = { from: 0, to: 1, fence: fences.get(0)!, process: server.process }
      server.restart({ empty })
      const before = server.snapshot()
      expect(await advance(store, step)).toEqual({ kind: 'process-changed', process: server.process })
      expect(await advance(store, { ...step, process: server.process })).toMatchObject({
        kind: empty ? 'fenced' : 'advanced',
      })
      if (empty) expect(server.snapshot()).toEqual(before)
    }
  })

  it('keys of another kind are unreadable, each by name, and strays up to 1,024 beyond are found [CK-23] [CK-57]', async () => {
    const { server, store } = await started()
    server.put(metaKey(namespace), { kind: 'string', value: '' })
    server.put(`${checkpointKey(namespace, 'dispatch', 1)}`, { kind: 'string', value: '{"next' })
    server.put('ns:fence:dispatch:0', { kind: 'set', members: new Set(['a']) })
    server.put('ns:quarantine:dispatch:0', { kind: 'string', value: 'x' })
    server.setField(checkpointKey(namespace, 'dispatch', 1_025), 'next_offset', '4')
    server.put('ns:index:dispatch:partitions', { kind: 'set', members: new Set(['0', '5000', 'x']) })
    server.setField(checkpointKey(namespace, 'dispatch', 5_000), 'next_offset', '4')
    const state = await store.read({ topic: 'dispatch', partitionCount: 2 })
    expect(state.unreadable.map(({ key }) => key).sort()).toEqual([
      'ns:checkpoint:dispatch:1',
      'ns:fence:dispatch:0',
      'ns:index:dispatch:partitions',
      'ns:meta',
      'ns:quarantine:dispatch:0',
    ])
    expect([...state.checkpoints.keys()]).toEqual([0, 1_025, 5_000])
  })

  it('bootstrap creates nothing where anything stands', async () => {
    const { server, store, fences } = await started()
    const before = server.snapshot()
    const outcomes = [
      await store.bootstrap({ identity, createMeta: true, partitions: [], fences }),
      await store.bootstrap({ identity, createMeta: false, partitions: [1], fences }),
      await store.bootstrap({
        identity: { ...identity, clusterId: 'b' },
        createMeta: false,
        partitions: [1],
        fences,
      }),
    ]
    expect(outcomes.map(({ kind }) => kind)).toEqual(['conflict', 'conflict', 'conflict'])
    expect(server.snapshot()).toEqual(before)
  })

  it('[A3] a transactional first start needs empty data, asked in the bootstrap step', async () => {
    const nonce = counter()
    const server = createMemoryServer({ nonce })
    server.put('p:total', { kind: 'string', value: '3' })
    const isEmpty = (readValue: (key: string) => { kind: string }): boolean => readValue('total').kind === 'absent'
    const store = createTransactionalMemoryProjectionStore({ namespace, server, nonce, dataPrefix: 'p:', isEmpty })
    const { fences } = await store.claim({ topic: 'dispatch', partitionCount: 2 })
    const request = { identity, createMeta: true, partitions: [0, 1], fences }
    expect((await store.bootstrap(request)).kind).toBe('not-empty')
    expect((await store.read({ topic: 'dispatch', partitionCount: 2 })).meta).toBeUndefined()
    server.put('p:total', { kind: 'absent' })
    expect((await store.bootstrap(request)).kind).toBe('created')
  })

  it('the prefix stands before every data key and cannot be used to spell a key of the namespace', async () => {
    const nonce = counter()
    const server = createMemoryServer({ nonce })
    const store = createMemoryProjectionStore({ namespace: 'session_ns', server, nonce, dataPrefix: 'session_' })
    const { writer } = store.newWrites()
    expect(() => writer.set('ns:meta', 'x')).toThrow(expect.objectContaining({ code: 'TM_CHECKPOINT_WRITE_INVALID' }))
    expect(() => createMemoryProjectionStore({ namespace, server, nonce, dataPrefix: 'ns:' })).toThrow(
      expect.objectContaining({ code: 'TM_CHECKPOINT_OPTION_INVALID' }),
    )
    const fences = await begin(store)
    const write = (each: IdempotentWriter): void => each.set('total', '1')
    await advance(store, { from: 0, to: 1, fence: fences.get(0)!, process: server.process, write })
    const [value] = await createMemoryDataReader(server, 'session_').readValues(['total'])
    expect(value).toEqual({ kind: 'string', value: '1' })
    expect(server.snapshot().has('session_total')).toBe(true)
  })

  it('a commuting store has no writes that do not commute, at run time either', () => {
    const nonce = counter()
    const store = createCommutingMemoryProjectionStore({ namespace, server: createMemoryServer({ nonce }), nonce })
    const { writer } = store.newWrites()
    expect(Object.keys(writer).sort()).toEqual(['sadd', 'setIfGreater', 'zadd'])
    expect(() => writer.zadd('z', 'ANY' as 'GT', 1, 'm')).toThrow(/does not commute/)
  })

  it('a closed store refuses every call', async () => {
    const { server, store, fences } = await started()
    await store.close()
    await expect(store.read({ topic: 'dispatch', partitionCount: 2 })).rejects.toThrow(/closed/)
    await expect(advance(store, { from: 0, to: 1, fence: fences.get(0)!, process: server.process })).rejects.toThrow(
      /closed/,
    )
  })
})
