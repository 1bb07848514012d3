import type { FrozenPolicy } from './frozen-policy.ts'
import { checkFrozenPolicy } from './frozen-policy.ts'
import { policyChanges } from './judge-generation.ts'
import type { PolicyChange } from './judge-generation.ts'

/** What became of a policy that was to be registered. */
export type RegistrationVerdict =
  | { readonly kind: 'registered' }
  /** The same policy is there: registering again is harmless. */
  | { readonly kind: 'already-registered' }
  /** The generation belongs to another policy, for ever. */
  | { readonly kind: 'taken'; readonly heldDigest: string; readonly changes: readonly PolicyChange[] }
  /** The stream has a later generation: a new one is higher than every one before. */
  | { readonly kind: 'behind'; readonly latestGeneration: number }

/**
 * PORT: which policy every generation of a stream is, written once.
 *
 * Order: registering is one atomic step of the store, decided by {@link judgeRegistration}; of two that register one generation
 * at once, one is told that it is taken, or that it is the same. What was registered is readable when the promise is fulfilled.
 */
export interface GenerationRegistry {
  /** What survives: the process, the server, the disc. */
  readonly durability: 'process' | 'server' | 'fsync' | 'replicated'
  register(offered: FrozenPolicy): Promise<RegistrationVerdict>
  find(businessStream: string, generation: number): Promise<FrozenPolicy | undefined>
  /** The highest generation of a stream. */
  latest(businessStream: string): Promise<FrozenPolicy | undefined>
}

/**
 * Whether a policy may be registered, from what the registry holds: the entry of the same stream and generation, and that of the
 * stream's highest generation.
 *
 * Promises: WIN-13.
 *
 * @throws {TidemarkError} TM_WINDOW_POLICY_DAMAGED where a policy and its digests do not fit.
 */
export function judgeRegistration(
  held: FrozenPolicy | undefined,
  latest: FrozenPolicy | undefined,
  offered: FrozenPolicy,
): RegistrationVerdict {
  checkFrozenPolicy(offered, 'the policy offered')
  if (held !== undefined) {
    checkFrozenPolicy(held, 'the registry')
    if (held.digest === offered.digest) return { kind: 'already-registered' }
    return { kind: 'taken', heldDigest: held.digest, changes: policyChanges(held, offered) }
  }
  const latestGeneration = latest?.policy.generation ?? 0
  if (offered.policy.generation < latestGeneration) return { kind: 'behind', latestGeneration }
  return { kind: 'registered' }
}
