import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  freezePolicy,
  judgeGeneration,
  parsePolicy,
  policyDigest,
  readDuration,
  renderCompactPolicy,
  renderDuration,
  timeDomainOf,
} from '../../src/index.ts'
import type { StreamTimePolicy } from '../../src/index.ts'
import { runSize } from '../run-size.ts'
import { arbitraryPolicy } from './arbitrary-policy.ts'

describe('durations', () => {
  it('[WIN-1] are what whole numbers without rounding make of them', () => {
    const unitMs = { ms: 1n, s: 1_000n, m: 60_000n, h: 3_600_000n, d: 86_400_000n }
    const unit = fc.constantFrom('ms' as const, 's' as const, 'm' as const, 'h' as const, 'd' as const)
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 55n }), unit, (count, name) => {
        const exact = count * unitMs[name]
        const read = readDuration(`${count}${name}`)
        if (exact > 9_007_199_254_740_991n) expect(read.kind).toBe('refused')
        else expect(read).toEqual({ kind: 'duration', ms: Number(exact) })
      }),
      runSize(500, 20_000),
    )
  })

  it('[WIN-1] are read back as they were written', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), fc.constantFrom(1, 1_000, 60_000, 3_600_000, 86_400_000), (count, unitMs) => {
        const ms = Math.floor(count / unitMs) * unitMs
        expect(readDuration(renderDuration(ms))).toEqual({ kind: 'duration', ms })
      }),
      runSize(500, 20_000),
    )
  })
})

describe('policies', () => {
  it('[WIN-2] [WIN-4] of every shape are read from their object and from their text as the same', () => {
    fc.assert(
      fc.property(arbitraryPolicy, (policy) => {
        const expected = { kind: 'policy', policy, filled: [] }
        expect(parsePolicy(policy)).toEqual(expected)
        expect(parsePolicy(renderCompactPolicy(policy))).toEqual(expected)
      }),
      runSize(80, 5_000),
    )
  })

  it('[WIN-3] tell whatever lines are missing, and with the profile all but those it fills', () => {
    const filled = new Set([
      ...['trigger', 'lateClassification', 'maxFutureSkew', 'stateRetention', 'correctionMode', 'corrections'],
      ...['deduplication', 'allIdle', 'resumeBehind', 'input'],
    ])
    fc.assert(
      fc.property(arbitraryPolicy, fc.infiniteStream(fc.boolean()), (policy, coins) => {
        const entries = topLevelEntries(renderCompactPolicy(policy))
        const kept = entries.filter(() => coins.next().value)
        const missing = entries
          .filter((entry) => !kept.includes(entry))
          .map((entry) => entry.slice(0, entry.indexOf(':')))
        // The zone of a window that names one is that of the stream.
        const zoned = kept.some((entry) => /^window: "?(?:tumbling|sliding|civil)/.test(entry))
        const expected = missing.filter((field) => field !== 'timezone' || !zoned)
        const told = (options: Parameters<typeof parsePolicy>[1]): readonly string[] => {
          const reading = parsePolicy(kept.join('') + '# end\n', options)
          if (kept.length === 0) return []
          return reading.kind === 'policy'
            ? []
            : reading.problems.filter(({ code }) => code === 'FIELD_MISSING').map(({ path }) => path.slice(2))
        }
        if (kept.length === 0) return
        expect(told({}).toSorted()).toEqual(expected.toSorted())
        expect(told({ profile: 'seed-v1' }).toSorted()).toEqual(
          expected.filter((field) => !filled.has(field)).toSorted(),
        )
      }),
      runSize(80, 5_000),
    )
  })

  it('[WIN-2] tell every planted fault, and nothing else of the schema', () => {
    const plants: readonly (readonly [string, string, (policy: Record<string, unknown>) => void])[] = [
      ['$.schema', 'VALUE_INVALID', (policy) => void (policy['schema'] = 1)],
      ['$.job.version', 'FIELD_MISSING', (policy) => void (policy['job'] = without(policy['job'], 'version'))],
      [
        '$.job.owner',
        'FIELD_UNKNOWN',
        (policy) => void (policy['job'] = { ...(policy['job'] as object), owner: 'me' }),
      ],
      ['$.generation', 'VALUE_INVALID', (policy) => void (policy['generation'] = 1.5)],
      ['$.window.kind', 'VALUE_INVALID', (policy) => void (policy['window'] = { kind: 'global' })],
      ['$.allIdle', 'FIELD_MISSING', (policy) => void delete policy['allIdle']],
      ['$.maxFutureSkewMs', 'VALUE_INVALID', (policy) => void (policy['maxFutureSkewMs'] = -1)],
      ['$.colour', 'FIELD_UNKNOWN', (policy) => void (policy['colour'] = 'blue')],
      ['$.input', 'VALUE_INVALID', (policy) => void (policy['input'] = null)],
    ]
    fc.assert(
      fc.property(arbitraryPolicy, fc.subarray([...plants], { minLength: 1 }), (policy, chosen) => {
        const input = { ...policy } as Record<string, unknown>
        for (const [, , plant] of chosen) plant(input)
        const reading = parsePolicy(input)
        const told = reading.kind === 'invalid' ? reading.problems.map(({ path, code }) => `${path} ${code}`) : []
        expect(told.toSorted()).toEqual(chosen.map(([path, code]) => `${path} ${code}`).toSorted())
      }),
      runSize(200, 5_000),
    )
  })

  it('[WIN-9] [WIN-11] have one digest each: two differ exactly where a field is told to have changed', () => {
    fc.assert(
      fc.property(arbitraryPolicy, arbitraryPolicy, fc.infiniteStream(fc.boolean()), (first, second, coins) => {
        // A mixture of two policies differs from the first in the fields that were taken from the second.
        const taken = Object.entries(second).filter(([field]) => field !== 'businessStream' && coins.next().value)
        const mixed = { ...first, ...Object.fromEntries(taken), generation: first.generation } as StreamTimePolicy
        const [held, offered] = [freezePolicy(first), freezePolicy(mixed)]
        const differing = Object.keys(first).filter(
          (field) => JSON.stringify(sortedKeys(first, field)) !== JSON.stringify(sortedKeys(mixed, field)),
        )
        expect(held.digest === offered.digest).toBe(differing.length === 0)
        const verdict = judgeGeneration(held, offered)
        const changes = verdict.kind === 'needs-new-generation' ? verdict.changes : []
        expect(verdict.kind).toBe(differing.length === 0 ? 'same' : 'needs-new-generation')
        expect(new Set(changes.map(({ path }) => /^\$\.(\w+)/.exec(path)?.[1]))).toEqual(new Set(differing))
      }),
      runSize(80, 5_000),
    )
  })

  it('[WIN-9] have a digest that says nothing of the order of anything', () => {
    fc.assert(
      fc.property(arbitraryPolicy, (policy) => {
        const shuffled = JSON.parse(JSON.stringify(policy), (_key, value: unknown) =>
          typeof value === 'object' && value !== null && !Array.isArray(value)
            ? Object.fromEntries(Object.entries(value).toReversed())
            : value,
        ) as StreamTimePolicy
        const sources = shuffled.sources.toReversed()
        expect(policyDigest({ ...shuffled, sources })).toBe(policyDigest(policy))
      }),
      runSize(100, 2_000),
    )
  })

  it('[WIN-8] take event times whose every end, lateness and gap is inside the range of times', () => {
    const limit = 8_640_000_000_000_000n
    fc.assert(
      fc.property(arbitraryPolicy, (policy) => {
        const { minMs, maxMs } = timeDomainOf(policy)
        const { window } = policy
        const lateness = BigInt(policy.allowedLatenessMs)
        const kept = BigInt(policy.stateRetentionMs)
        const last = BigInt(maxMs)
        const end =
          window.kind === 'session'
            ? last + BigInt(window.gapMs)
            : last + (window.kind === 'civil' ? 0n : BigInt(window.sizeMs))
        const gap = window.kind === 'session' ? BigInt(window.gapMs) : 0n
        expect(end + gap + lateness <= limit && end + kept <= limit).toBe(true)
        expect(BigInt(minMs) - BigInt(policy.watermark.boundMs) >= -limit).toBe(true)
        expect(Number.isSafeInteger(minMs) && Number.isSafeInteger(maxMs)).toBe(true)
        // Room for what people write: years 1 to 9999, and for civil windows until the zone data end.
        expect(minMs).toBeLessThan(-62_135_596_800_000)
        expect(maxMs).toBeGreaterThan(window.kind === 'civil' ? Date.UTC(2499, 10) : 253_402_300_799_999)
      }),
      runSize(300, 10_000),
    )
  })
})

/** The fields of a rendered text, each with the lines that belong to it. */
function topLevelEntries(text: string): readonly string[] {
  const entries: string[] = []
  for (const line of text.split('\n')) {
    if (/^\w+:/.test(line)) entries.push(`${line}\n`)
    else if (line !== '') entries[entries.length - 1] += `${line}\n`
  }
  return entries
}

function without(value: unknown, left: string): object {
  return Object.fromEntries(Object.entries(value as object).filter(([key]) => key !== left))
}

/** A field with the keys of every object in order, for a comparison that knows nothing of digests. */
function sortedKeys(policy: StreamTimePolicy, field: string): unknown {
  const value = (policy as unknown as Record<string, unknown>)[field]
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.entries(value).toSorted(byKey)
    : value
}

function byKey([left]: readonly [string, unknown], [right]: readonly [string, unknown]): number {
  return left < right ? -1 : 1
}
