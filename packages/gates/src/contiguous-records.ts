import type { GateWorld } from './gate-world.ts'

/**
 * Throws unless exactly the first records of a log are stored, at least as many as the checkpoint says.
 *
 * For a log whose record at each offset dispatches the conversation `c<offset>` to one user: a record that was skipped
 * leaves a hole, one of another log has another name, one applied twice shows in a store that can count.
 */
export async function checkContiguous(world: GateWorld, user: string): Promise<number> {
  // The checkpoint first: what is written after it was read can only be more.
  const checkpoint = Number((await world.store.checkpoint(0)) ?? 0)
  const stored = new Set(Object.keys(await world.store.sessions(user)))
  const hole = Array.from({ length: stored.size }, (_, offset) => offset).find((offset) => !stored.has(`c${offset}`))
  if (hole !== undefined) throw new Error(`record ${hole} is missing among ${stored.size} stored`)
  if (stored.size < checkpoint) throw new Error(`the checkpoint is ${checkpoint}, but only ${stored.size} are stored`)
  return stored.size
}

/** Values for {@link checkContiguous}, from one offset on. */
export function contiguousValues(from: number, count: number, user: string): readonly string[] {
  return Array.from({ length: count }, (_, index) =>
    JSON.stringify({ conversation: `c${from + index}`, createdAt: from + index, users: [user] }),
  )
}
