import { encodeMeta, planStart, refusalCatalogue, witnessReadBacks } from '@tidemark/checkpoint'
import type { PlanInput, PlanVerdict } from '@tidemark/checkpoint'
import { offsetOf, topicIdOf } from '@tidemark/core'
import { encodeWitness, witnessOf } from '@tidemark/log'
import type { LogIdentity, LogRecord, NoAnswerReason, PartitionBounds, ReadBack } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { bounds, checkpoint, identity, input, nothing, reasons, soundFacts, starts, stored } from './planner-input.ts'

const refusals = (verdict: PlanVerdict) => (verdict.kind === 'refused' ? verdict.refusals : [])
const proven = (changed: Partial<LogIdentity>): PlanInput['identity'] => ({
  kind: 'proven',
  identity: { ...identity, ...changed },
})

describe('a start with checkpoints', () => {
  it('[CKP-5] [A2] is at next, inside the range and at its ends', () => {
    const within = [bounds(0, 3, 9), bounds(1, 3, 9)]
    for (const [a, b] of [
      [5, 9],
      [3, 3],
      [9, 9],
    ] as const) {
      expect(starts(planStart(input({ stored: stored([a, b]) }, within)))).toEqual([
        `${a}->9 checkpoint`,
        `${b}->9 checkpoint`,
      ])
    }
  })

  it('[CKP-5] [A4] [CK-07] below low is refused with the size of the gap', () => {
    const verdict = planStart(input({ stored: stored([3, 9]) }, [bounds(0, 6, 9), bounds(1, 0, 9)]))
    expect(reasons(verdict)).toEqual(['NEXT_BELOW_LOW@0'])
    expect(refusals(verdict)[0]).toMatchObject({
      message: 'next is 3, the log starts at 6: 3 records are gone',
      values: { next: '3', low: '6', highWatermark: '9', gap: '3' },
    })
  })

  it('[CKP-5] [A4] [CK-31] [CK-45] above high is refused with the numbers, and nothing is swapped', () => {
    const verdict = planStart(input({ stored: stored([5, 12]) }))
    expect(reasons(verdict)).toEqual(['NEXT_ABOVE_HIGH@1'])
    expect(refusals(verdict)[0]).toMatchObject({
      message: 'next is 12, the log ends at 9: 3 records are missing',
      values: { next: '12', highWatermark: '9', gap: '3' },
    })
  })

  it('[CKP-5] [CK-54] positions are never compared as rounded numbers, and no gap is negative', () => {
    const beyond = 2n ** 53n
    const within = [bounds(0, 0, beyond), bounds(1, beyond + 1n, beyond + 2n)]
    const verdict = planStart(input({ stored: stored([beyond + 1n, beyond]) }, within))
    expect(reasons(verdict)).toEqual(['NEXT_ABOVE_HIGH@0', 'NEXT_BELOW_LOW@1'])
    expect(refusals(verdict).map(({ values }) => values['gap'])).toEqual(['1', '1'])
  })

  it('[CKP-11] [CK-30] an emptied partition is ready at once where next is its end', () => {
    const within = [bounds(0, 500, 500), bounds(1, 0, 9)]
    expect(starts(planStart(input({ stored: stored([500, 9]) }, within)))[0]).toBe('500->500 checkpoint')
    expect(reasons(planStart(input({ stored: stored([undefined, 9]) }, within)))).toEqual([
      'LOW_NOT_ZERO@0',
      'MISSING_CHECKPOINT@0',
    ])
  })

  it('[CKP-11] [CK-33] [CK-34] [A10] the target is the high watermark or the last stable offset, as asked', () => {
    const within = [bounds(0, 0, 1663, 200), bounds(1, 0, 9)]
    const lso = planStart(input({ readyTarget: 'lso' }, within))
    expect(starts(lso)).toEqual(['5->200 checkpoint', '9->9 checkpoint'])
    const hw = planStart(input({ readyTarget: 'hw' }, within))
    expect(starts(hw)).toEqual(['5->1663 checkpoint', '9->9 checkpoint'])
    const note = { code: 'OPEN_TRANSACTIONS', partition: 0, message: '1463 records wait behind an open transaction' }
    for (const verdict of [lso, hw]) expect(verdict).toMatchObject({ notes: [note] })
  })

  it('[CKP-11] a position above the last stable offset is inside the range', () => {
    const verdict = planStart(
      input({ readyTarget: 'lso', stored: stored([5, 9]) }, [bounds(0, 0, 9, 3), bounds(1, 0, 9)]),
    )
    expect(starts(verdict)[0]).toBe('5->3 checkpoint')
  })
})

describe('a start on another log', () => {
  it.each<[string, Partial<LogIdentity>, string]>([
    ['[CK-09] another cluster', { clusterId: 'cluster-b' }, 'CLUSTER_ID'],
    [
      '[CK-03] [CK-11] [A5] a recreated topic',
      { topicId: topicIdOf('01234567-89ab-cdef-0123-456789abcdef') },
      'TOPIC_ID',
    ],
    ['another topic', { topic: 'other' }, 'TOPIC_NAME'],
  ])('[CKP-4] [A4] %s is refused with both values', (_, changed, code) => {
    const verdict = planStart(input({ identity: proven(changed) }))
    expect(reasons(verdict)).toEqual([code])
    const [field] = Object.keys(changed) as (keyof LogIdentity)[]
    expect(refusals(verdict)[0]!.values).toEqual({ stored: identity[field!], broker: changed[field!] })
  })

  it('[CKP-4] [CK-18] more partitions are refused, never started at the end', () => {
    const grown = proven({ partitionCount: 3 })
    const verdict = planStart(input({ identity: grown }, [bounds(0, 0, 9), bounds(1, 0, 9), bounds(2, 0, 4)]))
    expect(reasons(verdict)).toEqual(['PARTITION_COUNT'])
    expect(verdict).not.toHaveProperty('partitions')
  })

  it('[CKP-4] [CK-05] fewer partitions are refused, and nothing throws', () => {
    const shrunk = proven({ partitionCount: 1 })
    expect(reasons(planStart(input({ identity: shrunk }, [bounds(0, 0, 9)])))).toEqual([
      'PARTITION_COUNT',
      'EXTRA_CHECKPOINT@1',
    ])
  })

  it('[CKP-4] [CK-11] an old offset beyond a new short log is refused for its identity too', () => {
    const recreated = proven({ topicId: topicIdOf('01234567-89ab-cdef-0123-456789abcdef') })
    const within = [bounds(0, 0, 50), bounds(1, 0, 50)]
    expect(reasons(planStart(input({ identity: recreated, stored: stored([10_000, 20]) }, within)))).toEqual([
      'TOPIC_ID',
      'NEXT_ABOVE_HIGH@0',
    ])
  })

  it('[CKP-18] on a recreated topic every reason about positions sends to the identity, the identity to the rebuild', () => {
    const recreated = { topicId: topicIdOf('01234567-89ab-cdef-0123-456789abcdef'), partitionCount: 1 }
    const state = stored([10_000, 20], { twins: new Map([[0, '9000']]) })
    const remedies = (changed: Partial<LogIdentity>, within: PartitionBounds[] | undefined) => {
      const of = input({ identity: proven(changed), stored: state }, within)
      const verdict = planStart(within === undefined ? { ...of, bounds: undefined } : of)
      return new Map(refusals(verdict).map(({ code, remedy }) => [code, remedy]))
    }
    const told = remedies(recreated, [bounds(0, 0, 50)])
    expect([...told.keys()]).toEqual([
      'TOPIC_ID',
      'PARTITION_COUNT',
      'EXTRA_CHECKPOINT',
      'DATA_TWIN',
      'NEXT_ABOVE_HIGH',
    ])
    expect(told.get('TOPIC_ID')).toBe(refusalCatalogue.TOPIC_ID)
    told.delete('TOPIC_ID')
    for (const remedy of told.values()) expect(remedy).toMatch(/^Settle TOPIC_ID first: /)
    // Another cluster explains another topic id; what has another cause keeps its own advice.
    const elsewhere = remedies({ ...recreated, clusterId: 'cluster-b' }, undefined)
    expect(elsewhere.get('CLUSTER_ID')).toBe(refusalCatalogue.CLUSTER_ID)
    expect(elsewhere.get('BOUNDS_UNREADABLE')).toBe(refusalCatalogue.BOUNDS_UNREADABLE)
    for (const code of ['TOPIC_ID', 'PARTITION_COUNT', 'EXTRA_CHECKPOINT'] as const)
      expect(elsewhere.get(code)).toMatch(/^Settle CLUSTER_ID first: /)
    // On the same log, whatever its number of partitions, a position beyond the end is lost records.
    const grown = remedies({ partitionCount: 3 }, [bounds(0, 0, 50), bounds(1, 0, 50), bounds(2, 0, 0)])
    expect(grown.get('NEXT_ABOVE_HIGH')).toBe(refusalCatalogue.NEXT_ABOVE_HIGH)
  })

  it('[CKP-4] without a readable meta the checkpoints still say where they came from', () => {
    const damaged = stored([5, 9], { meta: { ...encodeMeta(identity), topic_id: '' } })
    const verdict = planStart(input({ stored: damaged, identity: proven({ clusterId: 'cluster-b' }) }))
    expect(reasons(verdict)).toEqual(['UNPARSEABLE', 'CLUSTER_ID'])
  })

  it('[CKP-18] why nobody proves the identity decides what to do about it: an unknown topic is no broker that is too old', () => {
    const remedyOf = (reason: NoAnswerReason | 'disagreement'): string => {
      const unproven = { kind: 'unproven', brokerId: 2, reason, message: 'm' } as const
      const verdict = planStart(input({ identity: unproven, bounds: undefined, settings: undefined }))
      return refusals(verdict)[0]!.remedy
    }
    for (const word of ['does not know the topic', 'name', 'create it', 'Describe']) {
      expect(remedyOf('unknown-topic')).toContain(word)
    }
    for (const reason of ['zero-topic-id', 'missing-cluster-id', 'unsupported'] as const) {
      expect(remedyOf(reason)).toContain('KIP-516')
    }
    const others = ['unknown-topic', 'authorization', 'timeout', 'unreachable', 'no-leader', 'malformed', 'damaged']
    for (const reason of [...others, 'disagreement'] as NoAnswerReason[]) {
      expect(remedyOf(reason)).toMatch(/^[A-Z].*\.$/)
      expect(remedyOf(reason)).not.toContain('KIP-516')
    }
    expect(remedyOf('authorization')).toContain('Describe')
  })

  it('[CKP-4] an identity that is unproven or contradicted is refused', () => {
    const unproven = { kind: 'unproven', brokerId: 2, reason: 'zero-topic-id', message: 'no ids' } as const
    const differences = [{ field: 'topicId', expected: 'a', found: 'b' }] as const
    const mismatch = { kind: 'mismatch', brokerId: 3, differences } as const
    const without = { bounds: undefined, settings: undefined }
    expect(reasons(planStart(input({ identity: unproven, ...without })))).toEqual(['IDENTITY_UNPROVEN'])
    expect(reasons(planStart(input({ identity: mismatch, ...without })))).toEqual(['IDENTITY_CHANGED'])
  })
})

describe('the table of missing things', () => {
  const zero = [bounds(0, 0, 9), bounds(1, 0, 4)]
  const late = [bounds(0, 0, 9), bounds(1, 500, 900)]
  const rows: readonly [string, Partial<PlanInput>, typeof zero, readonly string[], readonly string[]][] = [
    ['nothing stored, every low 0', { stored: nothing }, zero, [], ['0->9 first-start', '0->4 first-start']],
    ['[CK-06] nothing stored, a low above 0', { stored: nothing }, late, ['LOW_NOT_ZERO@1'], []],
    [
      'nothing stored, every low 0, transactional',
      { stored: nothing, writeModel: 'transactional' },
      zero,
      [],
      ['0->9 first-start', '0->4 first-start'],
    ],
    [
      '[CK-19] meta, one checkpoint missing, its low 0',
      { stored: stored([5, undefined]) },
      zero,
      [],
      ['5->9 checkpoint', '0->4 replay-from-zero'],
    ],
    [
      '[CK-19] meta, one checkpoint missing, its low above 0',
      { stored: stored([5, undefined]) },
      late,
      ['LOW_NOT_ZERO@1', 'MISSING_CHECKPOINT@1'],
      [],
    ],
    [
      '[CK-19] meta, one checkpoint missing, transactional',
      { stored: stored([5, undefined]), writeModel: 'transactional' },
      zero,
      ['MISSING_CHECKPOINT@1'],
      [],
    ],
    [
      'meta, all checkpoints missing, every low 0',
      { stored: stored([]) },
      zero,
      [],
      ['0->9 replay-from-zero', '0->4 replay-from-zero'],
    ],
    [
      'meta, all checkpoints missing, transactional',
      { stored: stored([]), writeModel: 'transactional' },
      zero,
      ['MISSING_CHECKPOINT@0', 'MISSING_CHECKPOINT@1'],
      [],
    ],
    [
      'checkpoints without meta',
      { stored: stored([5, 4], { meta: undefined }) },
      zero,
      ['CHECKPOINTS_WITHOUT_META'],
      [],
    ],
    [
      'one checkpoint without meta',
      { stored: stored([5, undefined], { meta: undefined }) },
      zero,
      ['CHECKPOINTS_WITHOUT_META'],
      [],
    ],
  ]
  it.each(rows)('[CKP-6] [CKP-7] [A3] %s', (_, changed, within, refused, started) => {
    const verdict = planStart(input(changed, within))
    expect(reasons(verdict)).toEqual(refused)
    expect(starts(verdict)).toEqual(started)
  })

  it('[CKP-7] [CK-19] a replay from 0 is said, and only what is missing is created', () => {
    const verdict = planStart(input({ stored: stored([5, undefined]) }))
    expect(verdict).toMatchObject({
      createMeta: false,
      createCheckpoints: [1],
      notes: [{ code: 'REPLAY_FROM_ZERO', partition: 1 }],
    })
    expect(planStart(input({ stored: nothing }))).toMatchObject({
      createMeta: true,
      createCheckpoints: [0, 1],
      notes: [],
    })
    expect(planStart(input())).toMatchObject({ createMeta: false, createCheckpoints: [] })
  })

  it('[CKP-7] [CK-23] [A4] a checkpoint outside the partitions is refused', () => {
    const strays = stored([5, 9])
    const checkpoints = new Map([...strays.checkpoints, [7, checkpoint(7, 1)]])
    expect(reasons(planStart(input({ stored: { ...strays, checkpoints } })))).toEqual(['EXTRA_CHECKPOINT@7'])
  })

  it('[CKP-19] [CK-46] data on another server without a usable position beside a kept checkpoint is refused', () => {
    expect(reasons(planStart(apart('5', undefined)))).toEqual(['DATA_TWIN@1'])
    expect(reasons(planStart(apart('of another log', '09')))).toEqual(['DATA_TWIN@0', 'DATA_TWIN@1'])
    // Records 3 is gone from the log, and the data ends before it.
    const low = [bounds(0, 4, 9), bounds(1, 0, 9)]
    expect(reasons(planStart(apart('3', '9', low)))).toEqual(['DATA_TWIN@0'])
    expect(reasons(planStart(apart('10', '9')))).toEqual(['DATA_TWIN@0'])
  })

  it('[CKP-19] data that is behind or ahead of its checkpoint starts at the lower of the two, H0 unchanged, and says so', () => {
    const verdict = planStart(apart('3', '9'))
    expect(starts(verdict)).toEqual(['3->9 checkpoint', '9->9 checkpoint'])
    expect(verdict).toMatchObject({
      partitions: [{ apart: { data: 3n, checkpoint: 5n } }, {}],
      notes: [{ code: 'DATA_APART', partition: 0 }],
    })
    expect(planStart(apart('8', '9'))).toMatchObject({
      partitions: [{ nextOffset: 5n, target: 9n, apart: { data: 8n, checkpoint: 5n } }, {}],
    })
    expect(planStart(apart('5', '9'))).toMatchObject({ notes: [] })
  })

  it('[CKP-19] a lost checkpoint beside data that is ahead is replayed from 0 without writing the data again', () => {
    const twins = new Map([
      [0, '4'],
      [1, '9'],
    ])
    const verdict = planStart(input({ stored: stored([undefined, 9], { twins }) }))
    expect(starts(verdict)[0]).toBe('0->9 replay-from-zero')
    expect(verdict).toMatchObject({ createCheckpoints: [0], partitions: [{ apart: { data: 4n, checkpoint: 0n } }, {}] })
    expect(starts(planStart(input({ stored: { ...nothing, twins: new Map() } })))[0]).toBe('0->9 first-start')
  })

  it('[CKP-10] [CKP-19] the witness is of the data where the data lives apart', () => {
    const of = (offset: number): ReadonlyMap<number, string> =>
      new Map([[0, encodeWitness({ offset: offsetOf(offset), leaderEpoch: 0, digest: 'a'.repeat(64) })]])
    const twins = new Map([
      [0, '3'],
      [1, '9'],
    ])
    const seen = (offset: number): PlanInput => input({ stored: stored([5, 9], { twins, witnesses: of(offset) }) })
    expect(witnessReadBacks(seen(2))).toEqual([{ partition: 0, offset: 2n }])
    expect(reasons(planStart(seen(2)))).toEqual(['WITNESS_UNPROVEN@0'])
    // Beyond the data, though below the checkpoint: never written so.
    expect(reasons(planStart(seen(4)))).toEqual(['UNPARSEABLE@0'])
  })
})

function apart(zero: string, one: string | undefined, within?: readonly PartitionBounds[]): PlanInput {
  const twins = new Map([[0, zero], ...(one === undefined ? [] : [[1, one] as const])])
  return input({ stored: stored([5, 9], { twins }) }, within)
}

describe('store, settings and bounds', () => {
  it('[CKP-8] [CK-43] a store that may drop or hide keys is refused, for every reason at once', () => {
    const facts = {
      ...soundFacts,
      isPrimary: false,
      isLoaded: false,
      eviction: { policy: 'allkeys-lru', kind: 'any-key' as const },
      expiringKeys: ['session_projection:meta'],
      database: { expected: '3', found: '0' },
    }
    expect(reasons(planStart(input({ stored: stored([5, 9], { facts }) })))).toEqual([
      'STORE_LOADING',
      'STORE_REPLICA',
      'STORE_DATABASE',
      'EVICTION_POLICY',
      'KEY_EXPIRES',
    ])
  })

  it('[CKP-9] settings nobody read are as unknown as unreadable ones', () => {
    expect(reasons(planStart(input({ settings: undefined })))).toEqual(['SETTINGS_UNREADABLE'])
    const unreadable = { kind: 'unreadable', message: 'not authorized' } as const
    expect(reasons(planStart(input({ settings: unreadable })))).toEqual(['SETTINGS_UNREADABLE'])
  })

  it('[CKP-9] a compacted topic needs the declaration that the latest record per key suffices', () => {
    for (const cleanupPolicy of ['compact', 'compact,delete']) {
      const settings = { kind: 'settings', settings: { retentionMs: -1n, compacted: true, cleanupPolicy } } as const
      const verdict = planStart(input({ settings }))
      expect(reasons(verdict)).toEqual(['COMPACTED_TOPIC'])
      const declarations = { dataKeysCarryNoExpiry: false, latestRecordPerKeySuffices: true }
      expect(planStart(input({ settings, declarations })).kind).toBe('start')
    }
  })

  it('[CKP-12] bounds that are missing, partial or impossible are refused', () => {
    const unreadable = { kind: 'unreadable', partition: 1, message: 'no leader' } as const
    expect(reasons(planStart(input({ bounds: undefined })))).toEqual(['BOUNDS_UNREADABLE'])
    expect(reasons(planStart(input({ bounds: unreadable })))).toEqual(['BOUNDS_UNREADABLE@1'])
    expect(reasons(planStart(input({}, [bounds(0, 0, 9)])))).toEqual(['BOUNDS_UNREADABLE'])
    expect(reasons(planStart(input({}, [bounds(0, 0, 9), bounds(1, 9, 3)])))).toEqual(['BOUNDS_UNREADABLE'])
  })

  it('[CKP-12] bounds may come in any order', () => {
    expect(starts(planStart(input({}, [bounds(1, 0, 9), bounds(0, 0, 7)])))).toEqual([
      '5->7 checkpoint',
      '9->9 checkpoint',
    ])
  })
})

describe('the last applied record', () => {
  const record = (value: string, offset = 4): LogRecord => ({
    partition: 0,
    offset: offsetOf(offset),
    leaderEpoch: 0,
    timestampMs: 1,
    key: null,
    value: new TextEncoder().encode(value),
    headers: [],
  })
  const witnesses = new Map([[0, encodeWitness(witnessOf(record('old4')))]])
  const applied = stored([5, 9], { witnesses })
  const at4 = { partition: 0, offset: offsetOf(4) }
  const answers: Readonly<Record<string, ReadBack>> = {
    same: { kind: 'record', ...at4, witness: witnessOf(record('old4')) },
    other: { kind: 'record', ...at4, witness: witnessOf({ ...record('new4'), leaderEpoch: 1 }) },
    absent: { kind: 'absent', ...at4 },
    unreadable: { kind: 'unreadable', ...at4, message: 'timed out' },
    elsewhere: { kind: 'absent', partition: 0, offset: offsetOf(3) },
  }

  it.each([
    ['same', []],
    ['other', ['LOG_DIVERGED@0']],
    ['absent', ['LOG_DIVERGED@0']],
    ['unreadable', ['WITNESS_UNPROVEN@0']],
    ['elsewhere', ['WITNESS_UNPROVEN@0']],
  ] as const)('[CKP-10] [A12] read back: %s', (answer, refused) => {
    expect(reasons(planStart(input({ stored: applied, readBacks: [answers[answer]!] })))).toEqual(refused)
  })

  it('[CKP-10] not read back at all is unproven; no longer retained is noted', () => {
    expect(reasons(planStart(input({ stored: applied })))).toEqual(['WITNESS_UNPROVEN@0'])
    const retained = planStart(input({ stored: applied }, [bounds(0, 5, 9), bounds(1, 0, 9)]))
    expect(retained).toMatchObject({ kind: 'start', notes: [{ code: 'WITNESS_NOT_RETAINED', partition: 0 }] })
  })

  it('[CKP-10] an answer about the position of the dry run is none for a witness that moved since', () => {
    const readBacks = [answers['same']!, answers['elsewhere']!]
    expect(planStart(input({ stored: applied, readBacks })).kind).toBe('start')
  })

  it('[CKP-10] on a compacted topic absence proves nothing', () => {
    const settings = {
      kind: 'settings',
      settings: { retentionMs: -1n, compacted: true, cleanupPolicy: 'compact' },
    } as const
    const declarations = { dataKeysCarryNoExpiry: false, latestRecordPerKeySuffices: true }
    const verdict = planStart(input({ stored: applied, settings, declarations, readBacks: [answers['absent']!] }))
    expect(verdict).toMatchObject({ kind: 'start', notes: [{ code: 'WITNESS_NOT_RETAINED' }] })
  })

  it('[CKP-10] a foreign log is not asked, and its answer says nothing', () => {
    const foreign = input({ stored: applied, identity: proven({ clusterId: 'b' }), readBacks: [answers['other']!] })
    expect(reasons(planStart(foreign))).toEqual(['CLUSTER_ID'])
    expect(witnessReadBacks(foreign)).toEqual([])
    expect(witnessReadBacks(input({ stored: applied }))).toEqual([at4])
    expect(witnessReadBacks(input({ stored: applied }, [bounds(0, 5, 9), bounds(1, 0, 9)]))).toEqual([])
    expect(witnessReadBacks(input({ stored: applied, bounds: undefined }))).toEqual([])
  })
})

describe('a verdict', () => {
  it('[CKP-12] names everything that is wrong at once, each with remedy and page', () => {
    const facts = { ...soundFacts, isPrimary: false }
    const checkpoints = new Map([
      [0, { ...checkpoint(0, 5), next_offset: '' }],
      [1, checkpoint(1, 12)],
      [7, checkpoint(7, 0)],
    ])
    const settings = { kind: 'unreadable', message: 'no' } as const
    const verdict = planStart(
      input({ stored: stored([], { facts, checkpoints }), identity: proven({ clusterId: 'b' }), settings }),
    )
    expect(reasons(verdict)).toEqual([
      'STORE_REPLICA',
      'UNPARSEABLE@0',
      'SETTINGS_UNREADABLE',
      'CLUSTER_ID',
      'EXTRA_CHECKPOINT@7',
      'NEXT_ABOVE_HIGH@1',
    ])
    for (const refusal of refusals(verdict)) {
      expect(refusal.remedy).not.toBe('')
      expect(refusal.docsPath).toBe(`docs/errors/refusals.md#${refusal.code.toLowerCase()}`)
      expect(() => JSON.stringify(refusal)).not.toThrow()
    }
  })

  it('[CKP-12] [CK-21] is the same every time and changes nothing it was given', () => {
    const given = input({ stored: stored([5, undefined]), writeModel: 'transactional' })
    const before = structuredClone(given)
    const first = planStart(given)
    expect(first.kind).toBe('refused')
    for (let again = 0; again < 3; again += 1) expect(planStart(given)).toEqual(first)
    expect(given).toEqual(before)
  })
})
