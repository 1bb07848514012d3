import { committedLogCases, registerCases } from '@tidemark/testkit/contract'
import { describe, it } from 'vitest'
import { createSimLogWorld, simCapabilities } from './sim-log-world.ts'

registerCases(committedLogCases, async () => createSimLogWorld({ seed: 5 }), {
  describe,
  it,
  subject: 'simulated log',
  capabilities: simCapabilities,
})

registerCases(committedLogCases, async () => createSimLogWorld({ seed: 6, recreation: 'fails' }), {
  describe,
  it,
  subject: 'simulated log that fetches by id',
  capabilities: { ...simCapabilities, 'pinned-identity': true },
})
