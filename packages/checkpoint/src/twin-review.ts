import { decodeOffset } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'

/** Decodes what the data says of its own position; a damaged twin is refused and never taken for a missing one. */
export function reviewTwins(
  twins: ReadonlyMap<number, string>,
  refusals: Refusal[],
): ReadonlyMap<number, Offset | 'damaged'> {
  const reviewed = new Map<number, Offset | 'damaged'>()
  for (const [partition, text] of [...twins].sort(([a], [b]) => a - b)) {
    const position = decodeOffset(text)
    reviewed.set(partition, position ?? 'damaged')
    if (position !== undefined) continue
    const excerpt = text.slice(0, 64)
    const message = `the position in the data of partition ${partition} cannot be used: "${excerpt}"`
    refusals.push(refuse('DATA_TWIN', message, { twin: excerpt }, partition))
  }
  return reviewed
}

/** The twins that could be read. */
export function readableTwins(twins: ReadonlyMap<number, Offset | 'damaged'>): ReadonlyMap<number, Offset> {
  const readable = new Map<number, Offset>()
  for (const [partition, twin] of twins) if (twin !== 'damaged') readable.set(partition, twin)
  return readable
}
