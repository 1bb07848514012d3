import type {
  IdempotentWriter,
  ProjectedDataReader,
  ProjectionStore,
  StoredState,
  StoreInspector,
} from '@tidemark/checkpoint'
import type { EmptyQuestion } from '@tidemark/postgres/checkpoint'

/** How a place is opened: to look or to write, and by which form of steps. */
export interface StoreAccess {
  readonly kind: 'read' | 'write'
  /** Absent where nobody steps: a look takes what stands there as either form may have left it. */
  readonly form?: 'atomic' | 'two-step'
  /** Whether the host's own tables are empty, for the first step into a Postgres. A look never asks. */
  readonly isEmpty?: (tx: EmptyQuestion) => Promise<boolean>
}

/** How the commands open a place that only look. */
export const LOOKING: StoreAccess = { kind: 'read' }

/** An open place; several namespaces of it may be looked at. */
export interface OpenStorePlace {
  /** How to call it in what is printed; no credentials. */
  readonly name: string
  store(namespace: string, dataPrefix?: string): ProjectionStore<IdempotentWriter>
  data(dataPrefix: string): ProjectedDataReader
  inspector(namespace: string): StoreInspector
  /**
   * Refuses a namespace that shows itself to be of another form of store than the place was named as.
   *
   * @throws {TidemarkError} TM_CLI_PLACE_OF_OTHER_KIND
   */
  requireForm?(namespace: string): Promise<void>
  /** What the place may be besides what it was named as, judged by what stands there. */
  hint?(stored: StoredState): string | undefined
  /** Closes whatever was opened, stores included. */
  close(): Promise<void>
}
