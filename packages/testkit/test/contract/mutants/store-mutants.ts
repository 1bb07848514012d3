import type {
  AdvanceOutcome,
  AdvanceRequest,
  BootstrapRequest,
  CommutingWriter,
  ProjectionStore,
  ProjectionWrite,
  StoredState,
  VocabularyBuffer,
} from '@tidemark/checkpoint'
import { checkpointKey, encodeQuarantineEntry, metaKey } from '@tidemark/checkpoint'
import {
  applyWrite,
  applyWrites,
  createMemoryProjectionStore,
  sideKeys,
  withDataPrefix,
} from '@tidemark/checkpoint/memory'
import type { MemoryProjectionStoreOptions, MemoryServer } from '@tidemark/checkpoint/memory'
import { decodeFence, encodeFence, encodeWitness } from '@tidemark/log'

/** A store with one planted bug, and the case that must find it. */
export interface StoreMutant {
  readonly name: string
  /** The case that must fail; others may fail too. */
  readonly caughtBy: string
  open(options: MemoryProjectionStoreOptions): ProjectionStore<CommutingWriter>
}

type Store = ProjectionStore<CommutingWriter>
type Request = AdvanceRequest<CommutingWriter>
type Change = (store: Store, options: MemoryProjectionStoreOptions) => Partial<Store>

function mutant(name: string, caughtBy: string, change: Change): StoreMutant {
  return {
    name,
    caughtBy,
    open(options) {
      const store: Store = createMemoryProjectionStore(options)
      return { ...store, ...change(store, options) }
    },
  }
}

/** Tells the real store a request that satisfies a check the planted bug leaves out. */
async function withRequest(
  store: Store,
  request: Request,
  alter: (state: StoredState) => Partial<Request>,
): Promise<AdvanceOutcome> {
  const state = await store.read({ topic: request.identity.topic, partitionCount: request.identity.partitionCount })
  return store.advance({ ...request, ...alter(state) })
}

const advanced: AdvanceOutcome = { kind: 'advanced', resent: false }

function dataWrites(request: Request, options: MemoryProjectionStoreOptions): readonly ProjectionWrite[] {
  return withDataPrefix((request.writes as VocabularyBuffer).writes, options.dataPrefix ?? '')
}

function checkpointOf(request: Request, store: Store): string {
  return checkpointKey(store.namespace, request.identity.topic, request.partition)
}

/** Writes the position and witness of a step without any check. */
function forcePosition(server: MemoryServer, store: Store, request: Request): void {
  server.setField(checkpointOf(request, store), 'next_offset', String(request.to))
  if (request.witness !== undefined) {
    const key = sideKeys(store.namespace, request.identity.topic).witness(request.partition)
    server.put(key, { kind: 'string', value: encodeWitness(request.witness) })
  }
}

const fencing: readonly StoreMutant[] = [
  mutant('the fence is not compared', 'PST-39', (store) => ({
    advance: (request) =>
      withRequest(store, request, (state) => {
        const fence = decodeFence(state.fences.get(request.partition) ?? '')
        return fence === undefined ? {} : { fence }
      }),
  })),
  mutant('fences are compared by epoch', 'PST-40', (store) => ({
    advance: (request) =>
      withRequest(store, request, (state) => {
        const fence = decodeFence(state.fences.get(request.partition) ?? '')
        return fence?.epoch === request.fence.epoch ? { fence } : {}
      }),
  })),
  mutant('a missing fence is claimed back', 'PST-41', (store, { server }) => ({
    async advance(request) {
      const key = sideKeys(store.namespace, request.identity.topic).fence(request.partition)
      if (!server.data.values.has(key)) server.put(key, { kind: 'string', value: encodeFence(request.fence) })
      return store.advance(request)
    },
  })),
  mutant('a damaged fence is taken for the own one', 'PST-41', (store, { server }) => ({
    async advance(request) {
      const key = sideKeys(store.namespace, request.identity.topic).fence(request.partition)
      const value = server.data.values.get(key)
      if (value?.kind === 'string' && decodeFence(value.value) === undefined) {
        server.put(key, { kind: 'string', value: encodeFence(request.fence) })
      }
      return store.advance(request)
    },
  })),
  mutant('one claim hands out one nonce for all partitions', 'PST-10', (store, { server }) => ({
    async claim(request) {
      const claim = await store.claim(request)
      const shared = claim.fences.get(0)!
      const keys = sideKeys(store.namespace, request.topic)
      for (const partition of claim.fences.keys()) {
        server.put(keys.fence(partition), { kind: 'string', value: encodeFence(shared) })
      }
      return { ...claim, fences: new Map([...claim.fences.keys()].map((partition) => [partition, shared])) }
    },
  })),
  mutant('the incarnation nonce is renewed at every claim', 'PST-12', (store, { server, nonce }) => ({
    async claim(request) {
      const claim = await store.claim(request)
      const renewed = nonce()
      server.put(sideKeys(store.namespace, request.topic).incarnation, { kind: 'string', value: renewed })
      return { ...claim, nonce: renewed }
    },
  })),
  mutant('a claim clears witnesses', 'PST-11', (store, { server }) => ({
    async claim(request) {
      const claim = await store.claim(request)
      const keys = sideKeys(store.namespace, request.topic)
      for (const partition of claim.fences.keys()) server.put(keys.witness(partition), { kind: 'absent' })
      return claim
    },
  })),
]

const positions: readonly StoreMutant[] = [
  mutant('the previous position is not compared', 'PST-31', (store, { server }) => ({
    async advance(request) {
      const outcome = await store.advance(request)
      if (outcome.kind !== 'conflict' || outcome.field !== 'next_offset') return outcome
      forcePosition(server, store, request)
      return advanced
    },
  })),
  mutant('positions are compared as floating-point numbers', 'PST-33', (store, { server }) => ({
    async advance(request) {
      const outcome = await store.advance(request)
      const near = outcome.kind === 'conflict' && outcome.field === 'next_offset'
      if (!near || Number(outcome.expected) !== Number(outcome.found)) return outcome
      forcePosition(server, store, request)
      return advanced
    },
  })),
  mutant('the identity fields of the checkpoint are not compared', 'PST-34', (store, { server }) => ({
    async advance(request) {
      const outcome = await store.advance(request)
      const key = checkpointOf(request, store)
      if (outcome.kind !== 'conflict' || outcome.key !== key || outcome.field === 'next_offset') return outcome
      forcePosition(server, store, request)
      return advanced
    },
  })),
  mutant('meta is not compared', 'PST-35', (store, { server }) => ({
    async advance(request) {
      const outcome = await store.advance(request)
      if (outcome.kind !== 'conflict' || outcome.key !== metaKey(store.namespace)) return outcome
      forcePosition(server, store, request)
      return advanced
    },
  })),
  mutant('a missing checkpoint is created by the next step', 'PST-36', (store, { server }) => ({
    async advance(request) {
      const outcome = await store.advance(request)
      if (outcome.kind !== 'conflict' || outcome.found !== undefined) return outcome
      forcePosition(server, store, request)
      return advanced
    },
  })),
  mutant('a resend is a conflict', 'PST-37', (store) => ({
    async advance(request) {
      const outcome = await store.advance(request)
      if (outcome.kind !== 'advanced' || !outcome.resent) return outcome
      const field = 'next_offset'
      const [expected, found] = [String(request.from), String(request.to)]
      return { kind: 'conflict', key: checkpointOf(request, store), field, expected, found }
    },
  })),
  mutant('a resend is judged before the fence', 'PST-38', (store) => ({
    async advance(request) {
      const { topic, partitionCount } = request.identity
      const state = await store.read({ topic, partitionCount })
      const next = state.checkpoints.get(request.partition)?.['next_offset']
      return next === String(request.to) ? { kind: 'advanced', resent: true } : store.advance(request)
    },
  })),
  mutant('the server process is not compared', 'PST-44', (store, { server }) => ({
    advance: (request) => store.advance({ ...request, process: server.process }),
  })),
]

const stepContents: readonly StoreMutant[] = [
  mutant('the checkpoint is written first', 'PST-60', (store, { server }) => ({
    async advance(request) {
      const trial = await store.advance({ ...request, writes: store.newWrites() })
      if (trial.kind === 'advanced' && !trial.resent) {
        for (const write of dataWrites(request, {
          server,
          namespace: store.namespace,
          nonce: () => '',
          dataPrefix: store.dataPrefix,
        })) {
          applyWrite(server.data, write)
        }
      }
      return trial
    },
  })),
  mutant('the error of a write is swallowed', 'PST-60', (store, options) => ({
    async advance(request) {
      for (const write of dataWrites(request, options)) {
        try {
          applyWrite(options.server.data, write)
        } catch {
          // Planted: a pipeline whose replies nobody looks at.
        }
      }
      return store.advance({ ...request, writes: store.newWrites() })
    },
  })),
  mutant('data is written before the comparison', 'PST-31', (store, options) => ({
    async advance(request) {
      applyWrites(options.server.data, dataWrites(request, options))
      return store.advance({ ...request, writes: store.newWrites() })
    },
  })),
  mutant('a gap step drops the witness', 'PST-43', (store, { server }) => ({
    async advance(request) {
      const outcome = await store.advance(request)
      const key = sideKeys(store.namespace, request.identity.topic).witness(request.partition)
      if (outcome.kind === 'advanced' && request.witness === undefined) server.put(key, { kind: 'absent' })
      return outcome
    },
  })),
  mutant('the witness is not written', 'PST-30', (store) => ({
    advance: (request) => store.advance({ ...request, witness: undefined }),
  })),
  mutant('quarantine entries are written outside the step', 'PST-45', (store, { server }) => ({
    async advance(request) {
      const key = sideKeys(store.namespace, request.identity.topic).quarantine(request.partition)
      for (const entry of request.quarantine) server.setField(key, String(entry.offset), encodeQuarantineEntry(entry))
      return store.advance({ ...request, quarantine: [] })
    },
  })),
  mutant('quarantine entries are dropped', 'PST-45', (store) => ({
    advance: (request) => store.advance({ ...request, quarantine: [] }),
  })),
  mutant('writes are taken in reverse order', 'PST-75', (store) => ({
    advance(request) {
      const writes = (request.writes as VocabularyBuffer).writes
      const reversed = Object.create(request.writes, { writes: { value: [...writes].reverse() } }) as VocabularyBuffer
      return store.advance({ ...request, writes: reversed })
    },
  })),
  mutant('a step is cut at 2,000 writes and the rest is forgotten', 'PST-77', (store) => ({
    advance(request) {
      const writes = (request.writes as VocabularyBuffer).writes.slice(0, 2_000)
      return store.advance({
        ...request,
        writes: Object.create(request.writes, { writes: { value: writes } }) as VocabularyBuffer,
      })
    },
  })),
  mutant('scores are replaced instead of kept greater', 'PST-76', (store) => ({
    advance(request) {
      const writes = (request.writes as VocabularyBuffer).writes.map((write) =>
        write.op === 'zadd' ? { ...write, mode: 'ANY' as const } : write,
      )
      return store.advance({
        ...request,
        writes: Object.create(request.writes, { writes: { value: writes } }) as VocabularyBuffer,
      })
    },
  })),
]

/** Bootstraps partition by partition, leaving behind what was done before the first refusal. */
async function pieceByPiece(store: Store, request: BootstrapRequest): ReturnType<Store['bootstrap']> {
  if (request.createMeta) {
    const meta = await store.bootstrap({ ...request, partitions: [] })
    if (meta.kind !== 'created') return meta
  }
  for (const partition of request.partitions) {
    const outcome = await store.bootstrap({ ...request, createMeta: false, partitions: [partition] })
    if (outcome.kind !== 'created') return outcome
  }
  return { kind: 'created' }
}

const starting: readonly StoreMutant[] = [
  mutant('bootstrap is not all or none', 'PST-20', (store) => ({
    bootstrap: (request) => pieceByPiece(store, request),
  })),
  mutant('bootstrap replaces what stands there', 'PST-15', (store, { server }) => ({
    async bootstrap(request) {
      server.put(metaKey(store.namespace), { kind: 'absent' })
      for (const partition of request.partitions) {
        server.put(checkpointKey(store.namespace, request.identity.topic, partition), { kind: 'absent' })
      }
      return store.bootstrap({ ...request, createMeta: true })
    },
  })),
  mutant('bootstrap does not compare fences', 'PST-19', (store) => ({
    async bootstrap(request) {
      const { topic, partitionCount } = request.identity
      const { fences } = await store.read({ topic, partitionCount })
      const held = [...fences].map(
        ([partition, text]) => [partition, decodeFence(text) ?? request.fences.get(partition)!] as const,
      )
      return store.bootstrap({ ...request, fences: new Map(held) })
    },
  })),
  mutant('a recreated checkpoint keeps the witness of its former position', 'PST-18', (store, { server }) => ({
    async bootstrap(request) {
      const keys = sideKeys(store.namespace, request.identity.topic)
      const before = request.partitions.map(
        (partition) => [keys.witness(partition), server.snapshot().get(keys.witness(partition))] as const,
      )
      const outcome = await store.bootstrap(request)
      for (const [key, value] of before) if (value !== undefined) server.put(key, value)
      return outcome
    },
  })),
  mutant('meta is created although it was not asked for', 'PST-17', (store, { server }) => ({
    async bootstrap(request) {
      const createMeta = request.createMeta || !server.data.values.has(metaKey(store.namespace))
      return store.bootstrap({ ...request, createMeta })
    },
  })),
]

const reading: readonly StoreMutant[] = [
  mutant('strays beyond the partition count are not looked for', 'PST-03', (store) => ({
    async read(request) {
      const state = await store.read(request)
      const count = request.partitionCount ?? Number(state.meta?.['partition_count'] ?? 0)
      return { ...state, checkpoints: new Map([...state.checkpoints].filter(([partition]) => partition < count)) }
    },
  })),
  mutant('stored texts are trimmed', 'PST-05', (store) => ({
    async read(request) {
      const state = await store.read(request)
      const trimmed = [...state.checkpoints].map(
        ([partition, fields]) =>
          [partition, Object.fromEntries(Object.entries(fields).map(([field, text]) => [field, text.trim()]))] as const,
      )
      return { ...state, checkpoints: new Map(trimmed) }
    },
  })),
  mutant('a key of another kind reads as absent', 'PST-04', (store) => ({
    read: async (request) => ({ ...(await store.read(request)), unreadable: [] }),
  })),
  mutant('reading gives the namespace a nonce', 'PST-01', (store, { server, nonce }) => ({
    async read(request) {
      const { incarnation } = sideKeys(store.namespace, request.topic)
      if (!server.data.values.has(incarnation)) server.put(incarnation, { kind: 'string', value: nonce() })
      return store.read(request)
    },
  })),
]

/** Every planted bug of a store. Each must be found by the case it names. */
export const storeMutants: readonly StoreMutant[] = [...fencing, ...positions, ...stepContents, ...starting, ...reading]
