const brand = Symbol.for('tidemark.undecodable')

/** A projection function's word that a record cannot be projected. */
export interface Undecodable {
  readonly kind: 'undecodable'
  readonly reason: string
}

/** Says that a record cannot be projected and why; everything written for it is dropped. */
export function undecodable(reason: string): Undecodable {
  return Object.freeze({ kind: 'undecodable', reason, [brand]: true })
}

/** Whether a projection function returned {@link undecodable}. */
export function isUndecodable(returned: unknown): returned is Undecodable {
  return typeof returned === 'object' && returned !== null && (returned as Record<symbol, unknown>)[brand] === true
}
