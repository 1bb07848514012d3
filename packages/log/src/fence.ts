/**
 * The right to write one partition. A later claim takes it away; the older writer loses at its next write.
 *
 * Compared by nonce: after a failover that lost a claim, the same epoch can be issued twice, the nonce cannot.
 */
export interface Fence {
  readonly epoch: bigint
  /** 128 random bits as 32 lower-case hexadecimal digits. */
  readonly nonce: string
}

/** What the store holds compared with what the writer holds. */
export type FenceVerdict =
  | { readonly kind: 'held' }
  | { readonly kind: 'taken'; readonly by: Fence }
  | { readonly kind: 'missing' }
  | { readonly kind: 'unreadable'; readonly text: string }

/** The stored text of a fence: `<epoch>:<nonce>`. */
export function encodeFence(fence: Fence): string {
  return `${fence.epoch}:${fence.nonce}`
}

/** The fence a stored text stands for, or `undefined` when it is not one. */
export function decodeFence(text: string): Fence | undefined {
  const match = /^([1-9][0-9]{0,18}):([0-9a-f]{32})$/.exec(text)
  return match === null ? undefined : { epoch: BigInt(match[1]!), nonce: match[2]! }
}

/** Whether a writer still holds its fence. A missing fence is a loss: whatever removed it may have removed data too. */
export function judgeFence(held: Fence, stored: string | undefined): FenceVerdict {
  if (stored === undefined) return { kind: 'missing' }
  const found = decodeFence(stored)
  if (found === undefined) return { kind: 'unreadable', text: stored.slice(0, 64) }
  return found.nonce === held.nonce ? { kind: 'held' } : { kind: 'taken', by: found }
}
