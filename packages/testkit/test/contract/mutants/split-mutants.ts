import { createSplitProjectionStore } from '@tidemark/checkpoint'
import type { CommutingWriter, ProjectionStore, StoredState } from '@tidemark/checkpoint'
import { decodeFence } from '@tidemark/log'
import type { JoinStores } from '../split-store-world.ts'

/** A store on two servers with one planted bug, and the case that must find it. */
export interface SplitMutant {
  readonly name: string
  /** The case that must fail; others may fail too. */
  readonly caughtBy: string
  readonly join: JoinStores
}

type Store = ProjectionStore<CommutingWriter>

/** A bug in what the two stores are joined by. */
function joined(name: string, caughtBy: string, change: (split: Store, data: Store) => Partial<Store>): SplitMutant {
  return {
    name,
    caughtBy,
    join(data, checkpoints) {
      const split = createSplitProjectionStore({ data, checkpoints })
      return {
        name: split.name,
        namespace: split.namespace,
        dataPrefix: split.dataPrefix,
        writesCommute: split.writesCommute,
        writeModel: split.writeModel,
        stepLimits: split.stepLimits,
        newWrites: () => split.newWrites(),
        read: (request) => split.read(request),
        claim: (request) => split.claim(request),
        bootstrap: (request) => split.bootstrap(request),
        advance: (request) => split.advance(request),
        close: () => split.close(),
        ...change(split, data),
      }
    },
  }
}

/** A bug in how the side of the data is used. */
function beside(
  name: string,
  caughtBy: string,
  change: (data: Store, checkpoints: Store) => Partial<Store>,
): SplitMutant {
  return {
    name,
    caughtBy,
    join: (data, checkpoints) =>
      createSplitProjectionStore({ data: { ...data, ...change(data, checkpoints) }, checkpoints }),
  }
}

function stateOf(
  store: Store,
  { identity }: { readonly identity: { readonly topic: string; readonly partitionCount: number } },
): Promise<StoredState> {
  return store.read({ topic: identity.topic, partitionCount: identity.partitionCount })
}

/** What somebody gets wrong who writes data to one server and positions to another. */
export const splitMutants: readonly SplitMutant[] = [
  beside('the checkpoint moves before the data', 'PST-60', (data, checkpoints) => ({
    async advance(request) {
      const { process } = (await stateOf(checkpoints, request)).incarnation
      const { identity, partition, fence, from, to } = request
      const rest = { process, writes: checkpoints.newWrites(), witness: undefined, quarantine: [] }
      const moved = await checkpoints.advance({ identity, partition, fence, from, to, ...rest })
      return moved.kind === 'advanced' ? data.advance(request) : moved
    },
  })),
  beside('the fence beside the data is not compared', 'PST-83', (data) => ({
    async advance(request) {
      const fence = decodeFence((await stateOf(data, request)).fences.get(request.partition) ?? '')
      return data.advance({ ...request, fence: fence ?? request.fence })
    },
  })),
  beside('an older writer writes data under the fence of the newer one', 'PST-39', (data) => ({
    async advance(request) {
      const fence = decodeFence((await stateOf(data, request)).fences.get(request.partition) ?? '')
      return data.advance({ ...request, fence: fence ?? request.fence })
    },
  })),
  joined('the fence beside the data is not shown', 'PST-83', (split) => ({
    async read(request) {
      const state = await split.read(request)
      const fences = new Map([...state.fences].filter(([, text]) => !text.startsWith('9:')))
      return { ...state, fences }
    },
  })),
  joined('the position of the data is not shown', 'PST-80', (split) => ({
    read: async (request) => ({ ...(await split.read(request)), twins: new Map() }),
  })),
  joined('data that is behind the checkpoint is not written again', 'PST-81', (split) => ({
    async advance(request) {
      const isBehind = request.apart !== undefined && request.apart.checkpoint >= request.to
      return isBehind ? { kind: 'advanced', resent: false } : split.advance(request)
    },
  })),
  joined('the checkpoint goes back to where the data is', 'PST-81', (split) => ({
    async advance(request) {
      const { apart, ...step } = request
      const isBehind = apart !== undefined && apart.data < apart.checkpoint
      return split.advance(isBehind ? step : request)
    },
  })),
  joined('what the data holds is written again', 'PST-82', (split, data) => ({
    async advance(request) {
      const { apart, ...step } = request
      if (apart !== undefined && apart.data > step.from) {
        const { process } = (await stateOf(data, request)).incarnation
        await data.advance({ ...step, process, from: apart.data, to: apart.data, witness: undefined })
        return split.advance({ ...request, writes: split.newWrites() })
      }
      return split.advance(request)
    },
  })),
  joined('where the data is goes unsaid after a restart of the other server', 'PST-85', (split) => ({
    async advance(request) {
      const outcome = await split.advance(request)
      return outcome.kind === 'process-changed' ? { kind: 'process-changed', process: outcome.process } : outcome
    },
  })),
  beside('data that is gone is taken for data that need not be written', 'PST-84', (data) => ({
    async advance(request) {
      const state = await stateOf(data, request)
      return state.meta === undefined ? { kind: 'advanced', resent: true } : data.advance(request)
    },
  })),
]
