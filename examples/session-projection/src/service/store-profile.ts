import type { CommutingWriter, Durability, ProjectionStore } from '@tidemark/checkpoint'

/** What a store is, for operators. */
export interface StoreProfile {
  /** For example `redis atomic`. */
  readonly name: string
  /** What a step that it has confirmed survives, as the store itself says. */
  readonly durability: Durability
}

const survives: Readonly<Record<Durability, string>> = {
  process: 'the end of this process, but not of the machine',
  server: 'the end of this process, but not of the server that holds it',
  fsync: 'a crash of the machine: it is on disk',
  replicated: 'the loss of a machine: it is on several',
}

/** Asks a store what it is. Cost: one reading of the stored state. */
export async function readStoreProfile(store: ProjectionStore<CommutingWriter>, topic: string): Promise<StoreProfile> {
  const { facts } = await store.read({ topic, partitionCount: undefined })
  return { name: store.name, durability: facts.durability }
}

/** The line an operator reads. */
export function storeLine({ name, durability }: StoreProfile): string {
  return `store: ${name}, durability "${durability}": a confirmed step survives ${survives[durability]}`
}
