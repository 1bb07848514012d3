import type { JsonValue } from '@tidemark/core'

/** Whether what was stored is a count. -0 is none: no encoding has it. */
export function isCount(json: JsonValue | undefined): json is number {
  return typeof json === 'number' && Number.isSafeInteger(json) && json >= 0 && !Object.is(json, -0)
}

/** The elements of a stored list of a fixed length; undefined for anything else. */
export function storedTuple(json: JsonValue | undefined, length: number): readonly JsonValue[] | undefined {
  return Array.isArray(json) && json.length === length ? (json as readonly JsonValue[]) : undefined
}
