import type { Envelope, InputPartition } from '@tidemark/window'

export const place: InputPartition = { source: 'orders', partition: 2, generation: 4 }

/** A sound record of {@link place} at an offset. */
export function recordOf(offset: number, change: Readonly<Record<string, unknown>> = {}): Envelope<unknown> {
  const sound: Envelope<unknown> = {
    eventId: `e${offset}`,
    eventTime: 1_000 + offset,
    ingestTime: 2_000,
    source: place.source,
    partition: place.partition,
    partitionGeneration: place.generation,
    offset,
    schemaGeneration: 1,
    key: 'k',
    payload: { amount: offset },
  }
  return { ...sound, ...change }
}
