import { projectionStoreCases, registerCases } from '@tidemark/testkit/contract'
import { describe, it } from 'vitest'
import { createSplitStoreWorld } from './split-store-world.ts'

registerCases(projectionStoreCases, async () => createSplitStoreWorld(), {
  describe,
  it,
  subject: 'split memory projection store',
  capabilities: {
    damage: true,
    // Twins and data come first, so a step or a bootstrap that loses against the checkpoints has left something there.
    fingerprint: false,
    restart: true,
    'empty-restart': true,
    'full-vocabulary': true,
    'fenced-writes': false,
    rollback: false,
    expiry: true,
    'quarantine-reading': true,
  },
})
