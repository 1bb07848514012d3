import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import type { StoreFacts } from './stored-state.ts'

/** What the host declares about its data keys. */
export interface StoreDeclarations {
  /** The host promises that no data key of the projection carries an expiry, so that a store which evicts only expiring keys keeps all. */
  readonly dataKeysCarryNoExpiry: boolean
}

/** Why a store cannot be trusted to keep what it confirms; empty when it can. Promises: CKP-8. */
export function storeRefusals(facts: StoreFacts, declarations: StoreDeclarations): readonly Refusal[] {
  const refusals: Refusal[] = []
  if (!facts.isLoaded) refusals.push(refuse('STORE_LOADING', 'the store is still loading its data'))
  if (!facts.isPrimary) refusals.push(refuse('STORE_REPLICA', 'the store is a replica'))
  const { expected, found } = facts.database
  if (expected !== found) {
    refusals.push(
      refuse('STORE_DATABASE', `the connection is on database ${found}, not ${expected}`, { expected, found }),
    )
  }
  const { policy, kind } = facts.eviction
  const tolerated = kind === 'keeps-all' || (kind === 'expiring-only' && declarations.dataKeysCarryNoExpiry)
  if (!tolerated) {
    refusals.push(refuse('EVICTION_POLICY', `the store may drop keys by itself: policy ${policy}`, { policy }))
  }
  for (const key of facts.expiringKeys) {
    refusals.push(refuse('KEY_EXPIRES', `${key} carries an expiry`, { key }))
  }
  return refusals
}
