import type { JsonValue } from '@tidemark/core'
import type { AggregateOperation } from './aggregate.ts'
import { checkDeclared, described } from './aggregate-faults.ts'
import type { AggregateFaults } from './aggregate-faults.ts'
import { DECIMAL_SCALE_MAX, formatDecimal, parseDecimal } from './exact/decimal-text.ts'
import { narrowed } from './exact/exact-value.ts'
import type { ExactValue } from './exact/exact-value.ts'

/** How the values of one aggregate are read from payloads and told in results: as integers, or as decimals of one scale. */
export interface ExactValues<P> {
  /** Digits after the point of one unit; 0 for integers. */
  readonly scale: number
  read(payload: P, operation: AggregateOperation): ExactValue
  tell(value: bigint, operation: AggregateOperation): JsonValue
  /** For what is stored, where integers of any size have a text. */
  write(value: bigint): JsonValue
  /** The value of what `tell` or `write` gave; undefined for anything else. */
  parse(json: JsonValue | undefined): ExactValue | undefined
}

/** Safe integers in, safe integers out; a result beyond them is refused. */
export function integerValues<P>(faults: AggregateFaults, read: (payload: P) => number): ExactValues<P> {
  const write = (value: bigint): JsonValue => {
    const narrow = narrowed(value)
    return typeof narrow === 'number' ? narrow : String(narrow)
  }
  return {
    scale: 0,
    read: (payload, operation) => {
      let value: unknown
      try {
        value = read(payload)
      } catch (cause) {
        throw faults.threw(operation, cause)
      }
      if (!Number.isSafeInteger(value)) {
        throw faults.valueInvalid(operation, '$', `${described(value)} is not a safe integer`)
      }
      // Adding zero makes -0 the 0 that it equals.
      return (value as number) + 0
    },
    tell: (value, operation) => {
      const narrow = narrowed(value)
      if (typeof narrow === 'number') return narrow
      throw faults.overflow(operation, `${narrow} is beyond the safe integers`)
    },
    write,
    parse: (json) => {
      // -0 is never written; read back, it would be a second encoding of 0.
      if (typeof json === 'number') return Number.isSafeInteger(json) && !Object.is(json, -0) ? json : undefined
      if (typeof json !== 'string' || !/^-?[1-9][0-9]*$/.test(json)) return undefined
      const value = narrowed(BigInt(json))
      return typeof value === 'bigint' ? value : undefined
    },
  }
}

/** Decimal texts of at most `scale` digits after the point in, texts of exactly so many out, of any size. */
export function decimalValues<P>(faults: AggregateFaults, read: (payload: P) => string, scale: number): ExactValues<P> {
  checkDeclared(faults, 'scale', scale, 0, DECIMAL_SCALE_MAX)
  const write = (value: bigint): string => formatDecimal(value, scale)
  return {
    scale,
    read: (payload, operation) => {
      let text: unknown
      try {
        text = read(payload)
      } catch (cause) {
        throw faults.threw(operation, cause)
      }
      const value = typeof text === 'string' ? parseDecimal(text, scale) : undefined
      if (value !== undefined) return value
      throw faults.valueInvalid(operation, '$', `${described(text)} is not a decimal string of at most ${scale} places`)
    },
    tell: write,
    write,
    parse: (json) => {
      if (typeof json !== 'string') return undefined
      const value = parseDecimal(json, scale)
      // Sums may be longer than any one amount that is read.
      if (value === undefined) return parseSum(json, scale)
      return formatDecimal(value, scale) === json ? value : undefined
    },
  }
}

function parseSum(text: string, scale: number): ExactValue | undefined {
  if (!/^-?[0-9]+(?:\.[0-9]+)?$/.test(text)) return undefined
  const value = narrowed(BigInt(text.replace('.', '')))
  return formatDecimal(value, scale) === text ? value : undefined
}
