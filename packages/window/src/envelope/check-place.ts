import { windowErrors } from '../errors.ts'
import type { Envelope } from './envelope.ts'
import type { InputPartition } from './input-partition.ts'

/**
 * Makes sure that a record stands where its intake says: source, partition, generation, and an offset that is one.
 *
 * A record without a place cannot be counted against any partition's offsets, so it is not quarantined but stops the intake.
 * Cost: four comparisons; nothing is allocated. Promises: WIN-21.
 *
 * @throws {TidemarkError} TM_WINDOW_ENVELOPE_MISPLACED
 */
export function checkPlace(envelope: Envelope<unknown>, place: InputPartition): void {
  if (
    typeof envelope !== 'object' ||
    envelope === null ||
    envelope.source !== place.source ||
    envelope.partition !== place.partition ||
    envelope.partitionGeneration !== place.generation ||
    !isOffset(envelope.offset)
  ) {
    throw misplaced(envelope, place)
  }
}

/** Whether a value is an offset the engine can count with: the one after it must be one too. */
export function isOffset(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < Number.MAX_SAFE_INTEGER
}

function misplaced(envelope: unknown, { source, partition, generation }: InputPartition): Error {
  const fields = (typeof envelope === 'object' ? envelope : null) as { readonly [field: string]: unknown } | null
  const expected = { source, partition, partitionGeneration: generation }
  const stray = Object.entries(expected).find(([field, value]) => fields?.[field] !== value)
  const [field, found] =
    fields === null ? ['envelope', envelope] : stray ? [stray[0], fields[stray[0]]] : ['offset', fields['offset']]
  return windowErrors.create('TM_WINDOW_ENVELOPE_MISPLACED', {
    source,
    partition,
    generation,
    offset: printed(fields?.['offset']),
    field,
    found: printed(found),
  })
}

function printed(value: unknown): string {
  return (typeof value === 'object' && value !== null) || typeof value === 'function' ? typeof value : String(value)
}
