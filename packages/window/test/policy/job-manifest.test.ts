import { describe, expect, it } from 'vitest'
import { manifestDigest, parsePolicy } from '../../src/index.ts'
import { samplePolicy } from './sample-policy.ts'

const manifest = {
  aggregate: { name: 'sum', version: 1 },
  timestampExtractor: { name: 'order.occurred_at', version: 2 },
  envelopeVersion: 1,
}

describe('what a job declares of itself', () => {
  it('[WIN-15] has a digest that a policy takes', () => {
    const job = { ...samplePolicy().job, manifestDigest: manifestDigest(manifest) }
    expect(parsePolicy(samplePolicy({ job })).kind).toBe('policy')
  })

  it('[WIN-15] has another digest for another version of any part, and none for what is not declared', () => {
    const bundled = { ...manifest, aggregate: { ...manifest.aggregate, add: () => 1, builtAt: 5 } }
    expect(manifestDigest(bundled)).toBe(manifestDigest(manifest))
    const others = [
      { ...manifest, aggregate: { name: 'sum', version: 2 } },
      { ...manifest, aggregate: { name: 'count', version: 1 } },
      { ...manifest, timestampExtractor: { name: 'order.occurred_at', version: 3 } },
      { ...manifest, timestampExtractor: { name: 'order.paid_at', version: 2 } },
      { ...manifest, envelopeVersion: 2 },
      { aggregate: manifest.timestampExtractor, timestampExtractor: manifest.aggregate, envelopeVersion: 1 },
    ]
    expect(new Set([manifest, ...others].map(manifestDigest)).size).toBe(7)
  })

  it('[WIN-15] refuses a version that is no whole number', () => {
    expect(() => manifestDigest({ ...manifest, envelopeVersion: 1.5 })).toThrow(
      expect.objectContaining({ code: 'TM_CORE_JSON_NOT_CANONICAL' }),
    )
  })
})
