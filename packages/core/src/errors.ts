import { defineErrors } from './error-catalogue.ts'
import type { ErrorCatalogue, ErrorSpec } from './error-catalogue.ts'

interface CoreErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_CORE_OFFSET_INVALID: ErrorSpec<{ readonly value: string; readonly where: string }>
  readonly TM_CORE_TIME_INVALID: ErrorSpec<{ readonly value: string; readonly where: string }>
  readonly TM_CORE_TOPIC_ID_INVALID: ErrorSpec<{ readonly value: string; readonly reason: string }>
  readonly TM_CORE_JSON_NOT_CANONICAL: ErrorSpec<{ readonly path: string; readonly reason: string }>
  readonly TM_CORE_KEY_PART_INVALID: ErrorSpec<{
    readonly domain: string
    readonly part: number
    readonly reason: string
  }>
  readonly TM_CORE_LIMIT_INVALID: ErrorSpec<{
    readonly limit: string
    readonly value: string
    readonly min: number
    readonly max: number
  }>
  readonly TM_CORE_CANCELLED: ErrorSpec<{ readonly what: string }>
  readonly TM_CORE_DEADLINE_EXCEEDED: ErrorSpec<{ readonly what: string; readonly deadlineMs: number }>
  readonly TM_CORE_INVARIANT_VIOLATED: ErrorSpec<{ readonly invariant: string; readonly explanation: string }>
}

/** Every error the core package can raise. */
export const coreErrors: ErrorCatalogue<CoreErrorSpecs> = defineErrors<CoreErrorSpecs>('CORE', {
  TM_CORE_OFFSET_INVALID: {
    retriable: false,
    message: (d) => `${d.where}: ${d.value} is not an offset (a whole number from 0 to 9223372036854775807)`,
    remedy: 'Pass the offset as a bigint, a safe integer, or a canonical decimal string.',
  },
  TM_CORE_TIME_INVALID: {
    retriable: false,
    message: (d) => `${d.where}: ${d.value} is not a time in whole epoch milliseconds`,
    remedy: 'Pass whole milliseconds as a safe integer; convert seconds or ISO strings before the call.',
  },
  TM_CORE_TOPIC_ID_INVALID: {
    retriable: false,
    message: (d) => `topic id ${d.value} is not usable: ${d.reason}`,
    remedy: 'Use a broker that reports KIP-516 topic ids, and pass one of the three spellings clients print.',
  },
  TM_CORE_JSON_NOT_CANONICAL: {
    retriable: false,
    message: (d) => `value at ${d.path} has no canonical JSON form: ${d.reason}`,
    remedy: 'Turn the value into strings, safe integers, booleans, null, dense arrays and plain objects first.',
  },
  TM_CORE_KEY_PART_INVALID: {
    retriable: false,
    message: (d) => `part ${d.part} of key ${d.domain} cannot be hashed: ${d.reason}`,
    remedy: 'Pass well-formed strings or byte arrays; a lone surrogate is not well-formed.',
  },
  TM_CORE_LIMIT_INVALID: {
    retriable: false,
    message: (d) => `limit ${d.limit} is ${d.value}; it must be a whole number from ${d.min} to ${d.max}`,
    remedy: 'State the limit as a whole number inside the documented range.',
  },
  TM_CORE_CANCELLED: {
    retriable: true,
    message: (d) => `${d.what} was cancelled`,
    remedy: 'Nothing to repair: the caller asked for the end.',
  },
  TM_CORE_DEADLINE_EXCEEDED: {
    retriable: true,
    message: (d) => `${d.what} did not answer within ${d.deadlineMs} ms`,
    remedy: 'Check that the address is reachable; raise the deadline only if the service is known to be slow.',
  },
  TM_CORE_INVARIANT_VIOLATED: {
    retriable: false,
    message: (d) => `invariant ${d.invariant} does not hold: ${d.explanation}`,
    remedy: 'This is a fault in tidemark or in a port implementation; report it with the message and stop the process.',
  },
})
