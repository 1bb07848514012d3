import { strict as assert } from 'node:assert'
import { encodeCheckpoint, encodeMeta } from '@tidemark/checkpoint'
import type {
  AdvanceOutcome,
  AdvanceRequest,
  Apart,
  CommutingWriter,
  IdempotentWriter,
  ProjectionStore,
  QuarantineEntry,
  StoredState,
} from '@tidemark/checkpoint'
import { offsetOf, topicIdOf } from '@tidemark/core'
import { encodeFence, witnessOf } from '@tidemark/log'
import type { Fence, LogIdentity, LogRecord, TailWitness } from '@tidemark/log'
import { contractCase } from './contract-case.ts'
import type { ContractCase } from './contract-case.ts'
import type { ProjectionStoreWorld, StoreCapability, StoreDamage, StoreSides } from './projection-store-world.ts'

/** A law of the projection store port. */
export type StoreCase = ContractCase<ProjectionStoreWorld, StoreCapability>

/** A law of the projection store port, with a world of its own. */
export function storeCase(
  head: { readonly id: string; readonly title: string } & Partial<Pick<StoreCase, 'promises' | 'needs'>>,
  body: (world: ProjectionStoreWorld) => Promise<void>,
): StoreCase {
  return contractCase<ProjectionStoreWorld, StoreCapability>(head, body)
}

/** The log all cases pretend to read from. */
export const identity: LogIdentity = {
  clusterId: 'kP0Zb6cXQx-contract',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 3,
}

/** What the stored state looks like to a reader that knows the topic. */
export const readRequest: { readonly topic: string; readonly partitionCount: number } = {
  topic: identity.topic,
  partitionCount: identity.partitionCount,
}

/** A store with claimed fences and a bootstrapped namespace. */
export interface StartedStore {
  readonly store: ProjectionStore<CommutingWriter>
  readonly fences: ReadonlyMap<number, Fence>
  /** The incarnation's nonce; absent before the first bootstrap. */
  readonly nonce: string | undefined
  /** The server process, as a projection would have verified it. */
  readonly process: string
}

/** Opens a store, claims all partitions and creates meta and every checkpoint at 0. */
export async function startStore(world: ProjectionStoreWorld): Promise<StartedStore> {
  const claimed = await claimStore(world)
  const outcome = await claimed.store.bootstrap({
    identity,
    createMeta: true,
    partitions: [0, 1, 2],
    fences: claimed.fences,
  })
  assert.deepEqual(outcome, { kind: 'created' })
  const { incarnation } = await claimed.store.read(readRequest)
  return { ...claimed, nonce: incarnation.nonce }
}

/** Opens a store and claims all partitions. */
export async function claimStore(world: ProjectionStoreWorld): Promise<StartedStore> {
  const store = await world.openStore()
  const { fences } = await store.claim(readRequest)
  const { incarnation } = await store.read(readRequest)
  return { store, fences, nonce: incarnation.nonce, process: incarnation.process }
}

/** One step as a case words it. */
export interface StepWords {
  readonly from: bigint | number
  readonly to: bigint | number
  readonly partition?: number
  readonly write?: (writer: CommutingWriter) => void
  readonly witness?: TailWitness | undefined
  readonly quarantine?: readonly QuarantineEntry[]
  readonly fence?: Fence
  readonly process?: string
  /** Where data and checkpoint stand, where they stand apart. */
  readonly apart?: { readonly data: number; readonly checkpoint: number }
}

/** Makes one step. The witness is that of the record before `to`, unless given. */
export function advance(started: StartedStore, step: StepWords): Promise<AdvanceOutcome> {
  return started.store.advance(advanceRequest(started, step))
}

/** The request of one step, with its writes collected. */
export function advanceRequest(started: StartedStore, step: StepWords): AdvanceRequest<CommutingWriter> {
  const partition = step.partition ?? 0
  const writes = started.store.newWrites()
  step.write?.(writes.writer)
  const to = offsetOf(step.to)
  const witness = 'witness' in step ? step.witness : to === 0n ? undefined : witnessOf(recordAt(to - 1n, partition))
  return {
    identity,
    partition,
    fence: step.fence ?? started.fences.get(partition)!,
    process: step.process ?? started.process,
    from: offsetOf(step.from),
    to,
    ...(step.apart === undefined ? {} : { apart: apartOf(step.apart) }),
    writes,
    witness,
    quarantine: step.quarantine ?? [],
  }
}

function apartOf({ data, checkpoint }: { readonly data: number; readonly checkpoint: number }): Apart {
  return { data: offsetOf(data), checkpoint: offsetOf(checkpoint) }
}

/** The record every case finds at an offset. */
export function recordAt(offset: bigint | number, partition: number = 0): LogRecord {
  const value = new TextEncoder().encode(`record ${partition}/${offset}`)
  const exact = offsetOf(offset)
  return { partition, offset: exact, leaderEpoch: 3, timestampMs: 1_600_000_000_000, key: null, value, headers: [] }
}

/** The writer with its whole vocabulary; only for cases that need `full-vocabulary`. */
export function fullWriter(writer: CommutingWriter): IdempotentWriter {
  return writer as IdempotentWriter
}

/** The damage hand of a world; cases that use it need `damage`. */
export function damageOf(world: ProjectionStoreWorld): StoreDamage {
  assert.ok(world.damage, 'the world claims the capability damage but has no hand for it')
  return world.damage
}

/** The hands on either server of a world; cases that use them need `data-apart`. */
export function sidesOf(world: ProjectionStoreWorld): StoreSides {
  assert.ok(world.sides, 'the world claims the capability data-apart but has no hands for it')
  return world.sides
}

/** Everything stored, as one text; cases that use it need `fingerprint`. */
export async function fingerprintOf(world: ProjectionStoreWorld): Promise<string> {
  assert.ok(world.fingerprint, 'the world claims the capability fingerprint but cannot give one')
  return world.fingerprint()
}

/** Reads the state through a fresh client, so that nothing cached in the writing one can answer. */
export async function readFresh(world: ProjectionStoreWorld): Promise<StoredState> {
  const store = await world.openStore()
  const state = await store.read(readRequest)
  await store.close()
  return state
}

/** Checks a partition's checkpoint byte for byte. */
export function assertCheckpoint(state: StoredState, partition: number, next: bigint | number): void {
  const expected = encodeCheckpoint({ identity, partition, nextOffset: offsetOf(next) })
  assert.deepEqual(plain(state.checkpoints.get(partition)), expected, `checkpoint of partition ${partition}`)
}

/** Checks the meta hash byte for byte. */
export function assertMeta(state: StoredState): void {
  assert.deepEqual(plain(state.meta), encodeMeta(identity), 'meta')
}

/** Checks that the stored fences are the held ones. */
export function assertFences(state: StoredState, fences: ReadonlyMap<number, Fence>): void {
  for (const [partition, fence] of fences) assert.equal(state.fences.get(partition), encodeFence(fence))
}

/** Checks that a step failed one way or the other: lost as a value, or rejected. Never `advanced`. */
export async function assertNotAdvanced(outcome: Promise<AdvanceOutcome>): Promise<void> {
  const settled = await outcome.then(
    (value) => value.kind,
    () => 'rejected',
  )
  assert.notEqual(settled, 'advanced')
}

function plain(fields: Readonly<Record<string, string>> | undefined): Record<string, string> | undefined {
  return fields === undefined ? undefined : { ...fields }
}

/** The partitions of a map, in order. */
export function partitionsOf(map: ReadonlyMap<number, unknown>): readonly number[] {
  return [...map.keys()].sort((a, b) => a - b)
}
