import { undecodable } from '@tidemark/checkpoint'
import type { Undecodable } from '@tidemark/checkpoint'
import type { LogRecord } from '@tidemark/log'

/** A dispatch of one conversation to several users. */
export interface Dispatch {
  readonly kind: 'dispatch'
  readonly conversation: string
  readonly createdAt: number
  readonly users: readonly string[]
}

/** The value of a dispatch record. */
export function dispatch(conversation: string, createdAt: number, ...users: readonly string[]): string {
  return JSON.stringify({ conversation, createdAt, users })
}

/** Dispatches to one user, named `<prefix>0`, `<prefix>1` and so on. */
export function dispatches(prefix: string, count: number, user: string): readonly string[] {
  return Array.from({ length: count }, (_, n) => dispatch(`${prefix}${n}`, n, user))
}

/** The dispatch in a record, or why there is none. */
export function dispatchOf(record: LogRecord): Dispatch | Undecodable {
  const text = record.value === null ? '' : new TextDecoder().decode(record.value)
  if (!text.startsWith('{')) return undecodable('a JSON object is due')
  return { kind: 'dispatch', ...(JSON.parse(text) as Omit<Dispatch, 'kind'>) }
}
