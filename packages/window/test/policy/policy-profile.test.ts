import { describe, expect, it } from 'vitest'
import { parsePolicy, requirePolicy } from '../../src/index.ts'
import type { PolicyReading } from '../../src/index.ts'
import { samplePolicy, seedDeployment, seedText } from './sample-policy.ts'

const codes = (reading: PolicyReading): readonly string[] =>
  reading.kind === 'invalid' ? reading.problems.map(({ line, path, code }) => `${line} ${path} ${code}`) : []

describe('the profile seed-v1', () => {
  it('[WIN-5] fills what the text leaves out, and lists every field it filled', () => {
    const reading = parsePolicy(seedText, { profile: 'seed-v1', deployment: seedDeployment })
    expect(reading).toEqual({
      kind: 'policy',
      policy: samplePolicy(),
      filled: [
        { profile: 'seed-v1', field: 'trigger', value: 'ON_FRONTIER' },
        { profile: 'seed-v1', field: 'lateClassification', value: 'PER_WINDOW' },
        { profile: 'seed-v1', field: 'maxFutureSkewMs', value: 300_000 },
        { profile: 'seed-v1', field: 'stateRetentionMs', value: 86_400_000 },
        { profile: 'seed-v1', field: 'corrections', value: { kind: 'per-event' } },
        { profile: 'seed-v1', field: 'deduplication', value: { kind: 'event-id', retainMs: 90_000_000 } },
        { profile: 'seed-v1', field: 'allIdle', value: 'HOLD' },
        { profile: 'seed-v1', field: 'resumeBehind', value: 'HOLD' },
        { profile: 'seed-v1', field: 'input', value: 'append' },
      ],
    })
  })

  it('[WIN-5] is applied only where it is named: in the text or by the caller, and to objects as well', () => {
    const { allIdle: _allIdle, correctionMode: _correctionMode, ...input } = samplePolicy()
    expect(parsePolicy(`${seedText}profile: seed-v1\n`, { deployment: seedDeployment }).kind).toBe('policy')
    expect(parsePolicy(seedText, { deployment: seedDeployment }).kind).toBe('invalid')
    expect(parsePolicy(input).kind).toBe('invalid')
    expect(parsePolicy(input, { profile: 'seed-v1' })).toEqual({
      kind: 'policy',
      policy: samplePolicy(),
      filled: [
        { profile: 'seed-v1', field: 'correctionMode', value: 'UPSERT_REVISION' },
        { profile: 'seed-v1', field: 'allIdle', value: 'HOLD' },
      ],
    })
  })

  it('[WIN-5] overrules nothing that is said, and mends nothing that is wrong', () => {
    const said = `${seedText}allIdle: FLUSH_MAX\nresumeBehind: EXCLUDE\ndeduplication: none\n`
    expect(requirePolicy(said, { profile: 'seed-v1', deployment: seedDeployment })).toEqual(
      samplePolicy({ allIdle: 'FLUSH_MAX', resumeBehind: 'EXCLUDE', deduplication: { kind: 'none' } }),
    )
    const wrong = parsePolicy(`${seedText}allIdle: WAIT\n`, { profile: 'seed-v1', deployment: seedDeployment })
    expect(codes(wrong)).toEqual(['9 $.allIdle VALUE_INVALID'])
  })

  it('[WIN-5] chooses no facts: stream, generation, sources and manifest stay missing', () => {
    expect(codes(parsePolicy(seedText, { profile: 'seed-v1' }))).toEqual([
      '1 $.manifestDigest FIELD_MISSING',
      '1 $.businessStream FIELD_MISSING',
      '1 $.generation FIELD_MISSING',
      '1 $.sources FIELD_MISSING',
    ])
  })

  it('[WIN-5] waits with what follows from a field that could not be read, and tells only that field', () => {
    const lateness = seedText.replace('24h', 'a day')
    const window = seedText.replace('tumbling:1h:UTC', 'tumbling')
    const none = seedText.replace(/^window.*\n/m, '').replace(/^allowedLateness.*\n/m, '')
    const zone = seedText.replace('tumbling:1h:UTC', 'civil:day:Mars/Olympus')
    const read = (text: string): readonly string[] =>
      codes(parsePolicy(text, { profile: 'seed-v1', deployment: seedDeployment }))
    expect(read(lateness)).toEqual(['7 $.allowedLateness VALUE_INVALID'])
    expect(read(window)).toEqual(['6 $.window VALUE_INVALID'])
    expect(read(none)).toEqual([
      '1 $.window FIELD_MISSING',
      '1 $.timezone FIELD_MISSING',
      '1 $.allowedLateness FIELD_MISSING',
    ])
    expect(read(zone)).toEqual(['6 $.window ZONE_UNKNOWN'])
  })

  it('[WIN-5] is refused under another name, and where two are named', () => {
    const options = { deployment: seedDeployment }
    expect(codes(parsePolicy(`${seedText}profile: seed-v2\n`, options))).toContain('9 $.profile PROFILE_UNKNOWN')
    const both = parsePolicy(`${seedText}profile: seed-v2\n`, { ...options, profile: 'seed-v1' })
    expect(codes(both)).toContain('9 $.profile FIELD_REPEATED')
    const stranger = parsePolicy(seedText, { ...options, profile: 'toString' as 'seed-v1' })
    expect(codes(stranger)).toContain('1 $.profile PROFILE_UNKNOWN')
    expect(parsePolicy(`${seedText}profile: seed-v1\n`, { ...options, profile: 'seed-v1' }).kind).toBe('policy')
  })

  it('[WIN-5] [WB-23] keeps state and ids exactly as long as window and lateness ask', () => {
    const sliding = seedText.replace('tumbling:1h:UTC', 'sliding:2h/30m:UTC').replace('24h', '3h')
    const session = seedText.replace('tumbling:1h:UTC', 'session:20m').replace('24h', '3h') + 'timezone: UTC\n'
    const of = (text: string) => requirePolicy(text, { profile: 'seed-v1', deployment: seedDeployment })
    expect(of(sliding)).toMatchObject({
      stateRetentionMs: 10_800_000,
      deduplication: { kind: 'event-id', retainMs: 18_000_000 },
    })
    expect(of(session)).toMatchObject({
      stateRetentionMs: 10_800_000,
      deduplication: { kind: 'event-id', retainMs: 12_000_000 },
    })
  })
})
