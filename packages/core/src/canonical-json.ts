import { coreErrors } from './errors.ts'

/** How deep a value may nest before it is refused rather than overflowing the stack. */
export const CANONICAL_JSON_DEPTH_MAX = 128

/**
 * The one text that equal values share: RFC 8785 order and escapes over a closed set of inputs.
 *
 * Shape: null, booleans, well-formed strings, safe integers, dense arrays, plain objects with string keys.
 * Everything that other encoders silently collapse (undefined, NaN, Date, Map, bigint, holes, lone surrogates,
 * fractions) is refused with its path, because two different payloads must never share a digest.
 *
 * @throws {TidemarkError} TM_CORE_JSON_NOT_CANONICAL naming the path.
 */
export function canonicalJson(value: unknown): string {
  return encode(value, '$', 0)
}

function encode(value: unknown, path: string, depth: number): string {
  if (depth > CANONICAL_JSON_DEPTH_MAX) throw refuse(path, `nested deeper than ${CANONICAL_JSON_DEPTH_MAX}`)
  switch (typeof value) {
    case 'string':
      return encodeString(value, path)
    case 'boolean':
      return value ? 'true' : 'false'
    case 'number':
      // -0 and 0 are equal values, so they share a text.
      if (!Number.isSafeInteger(value)) throw refuse(path, `${value} is not a safe integer`)
      return String(value === 0 ? 0 : value)
    case 'object':
      if (value === null) return 'null'
      return Array.isArray(value) ? encodeArray(value, path, depth) : encodeObject(value, path, depth)
    default:
      throw refuse(path, `a ${typeof value} is not JSON`)
  }
}

function encodeString(value: string, path: string): string {
  if (!isWellFormed(value)) throw refuse(path, 'the string holds a lone surrogate')
  return JSON.stringify(value)
}

function encodeArray(value: readonly unknown[], path: string, depth: number): string {
  const parts: string[] = []
  for (let index = 0; index < value.length; index += 1) {
    if (!Object.hasOwn(value, index)) throw refuse(`${path}[${index}]`, 'the array has a hole')
    parts.push(encode(value[index], `${path}[${index}]`, depth + 1))
  }
  if (Object.keys(value).length !== value.length || Object.getOwnPropertySymbols(value).length > 0) {
    throw refuse(path, 'the array has properties besides its elements')
  }
  return `[${parts.join(',')}]`
}

function encodeObject(value: object, path: string, depth: number): string {
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== null) throw refuse(path, 'only plain objects are JSON')
  if (Object.getOwnPropertySymbols(value).length > 0) throw refuse(path, 'the object has a symbol key')
  const record = value as Readonly<Record<string, unknown>>
  // The default sort compares UTF-16 code units, which is the order RFC 8785 asks for.
  const keys = Object.keys(record).sort()
  const parts = keys.map(
    (key) => `${encodeString(key, `${path}.${key}`)}:${encode(record[key], `${path}.${key}`, depth + 1)}`,
  )
  return `{${parts.join(',')}}`
}

function refuse(path: string, reason: string): Error {
  return coreErrors.create('TM_CORE_JSON_NOT_CANONICAL', { path, reason })
}

/** Whether every surrogate in a string is one of a pair, so that UTF-8 keeps the string apart from all others. */
export function isWellFormed(text: string): boolean {
  return !/[\uD800-\uDBFF](?![\uDC00-\uDFFF])|(?<![\uD800-\uDBFF])[\uDC00-\uDFFF]/.test(text)
}
