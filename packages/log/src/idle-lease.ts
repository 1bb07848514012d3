/** When the periodic re-read of identity and store is due and overdue, in monotonic milliseconds. */
export interface IdleLease {
  readonly leaseMs: number
  readonly stallMsMax: number
  readonly confirmedAtMs: number
}

/** What the lease asks for at a moment. */
export type IdleLeaseDecision =
  | { readonly kind: 'fresh'; readonly dueInMs: number }
  | { readonly kind: 'due' }
  | { readonly kind: 'expired'; readonly ageMs: number }

/**
 * Whether identity and store must be read again, or have been unread for so long that serving must stop.
 *
 * Without it `ready` could be served for ever over a recreated topic or an emptied store that nobody writes to.
 * Promises: LOG-7.
 */
export function decideIdleLease(lease: IdleLease, nowMs: number): IdleLeaseDecision {
  const ageMs = nowMs - lease.confirmedAtMs
  if (ageMs > lease.leaseMs + lease.stallMsMax) return { kind: 'expired', ageMs }
  return ageMs >= lease.leaseMs ? { kind: 'due' } : { kind: 'fresh', dueInMs: lease.leaseMs - ageMs }
}
