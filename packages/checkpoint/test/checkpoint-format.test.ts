import { decodeCheckpoint, decodeMeta, encodeCheckpoint, encodeMeta } from '@tidemark/checkpoint'
import type { StoredFields } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import { checkpoint, identity } from './planner-input.ts'

describe('format version 1', () => {
  it('[CKP-1] has exactly these fields with exactly these texts', () => {
    expect(Object.entries(encodeMeta(identity))).toEqual([
      ['format_version', '1'],
      ['dispatch_topic', 'dispatch'],
      ['partition_count', '2'],
      ['cluster_id', 'cluster-a'],
      ['topic_id', 'edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'],
    ])
    const nextOffset = offsetOf(2n ** 63n - 1n)
    expect(Object.entries(encodeCheckpoint({ identity, partition: 1, nextOffset }))).toEqual([
      ...Object.entries(encodeMeta(identity)),
      ['partition', '1'],
      ['next_offset', '9223372036854775807'],
    ])
  })

  it('[CKP-2] is read back as what was written', () => {
    const value = { identity, partition: 1, nextOffset: offsetOf(17) }
    expect(decodeCheckpoint(encodeCheckpoint(value))).toEqual({ kind: 'decoded', value })
    expect(decodeMeta(encodeMeta(identity))).toEqual({ kind: 'decoded', value: { identity } })
    // A store may give fields in any order.
    const shuffled = Object.fromEntries(Object.entries(encodeCheckpoint(value)).reverse())
    expect(decodeCheckpoint(shuffled).kind).toBe('decoded')
  })

  it.each(Object.keys(checkpoint(0, 5)))('[CKP-2] [A4] a missing %s is a fault', (field) => {
    const { [field]: _, ...rest } = checkpoint(0, 5)
    expect(decodeCheckpoint(rest)).toEqual({ kind: 'faulty', faults: [{ kind: 'missing', field }] })
  })

  it.each([
    [
      'next_offset',
      ['', '-1', '007', '1e3', '1.5', '+5', ' 5', '5 ', '5\n', '0x5', '9223372036854775808', '{"next":5', 'null'],
    ],
    ['partition', ['', '-1', '01', '1.0', 'p1', '100001', '1e1']],
    ['partition_count', ['', '0', '-2', '02', '2.0', '100001', 'two']],
    ['dispatch_topic', ['']],
    ['cluster_id', ['']],
    [
      'topic_id',
      [
        '',
        'EDBCE881-EF7F-96BD-9D9A-2D48FD68E2F5',
        '7bzoge9/lr2dmi1I/Wji9Q',
        '00000000-0000-0000-0000-000000000000',
        'edbce881ef7f96bd9d9a2d48fd68e2f5',
      ],
    ],
  ] as const)('[CKP-2] [A4] [CK-57] %s is one text or unparseable', (field, texts) => {
    for (const text of texts) {
      const fields: StoredFields = { ...checkpoint(0, 5), [field]: text }
      expect(decodeCheckpoint(fields)).toEqual({ kind: 'faulty', faults: [{ kind: 'unparseable', field, text }] })
    }
  })

  it.each(['0', '2', '10', '1.0', '', '01', 'v1'])('[CKP-2] [A4] format version %j is not read', (text) => {
    const decoded = decodeCheckpoint({ ...checkpoint(0, 5), format_version: text })
    expect(decoded).toEqual({ kind: 'faulty', faults: [{ kind: 'format-version', text }] })
  })

  it('[CKP-2] every fault of a hash is found, unknown fields too', () => {
    const fields: StoredFields = { ...checkpoint(0, 5), topic_id: 'x', next_offset: '', extra: '1', __proto__x: '2' }
    const { ['cluster_id']: _, ...rest } = fields
    const decoded = decodeCheckpoint(rest)
    expect(decoded.kind === 'faulty' && decoded.faults.map((fault) => fault.kind).sort()).toEqual([
      'missing',
      'unknown',
      'unknown',
      'unparseable',
      'unparseable',
    ])
    expect(decodeCheckpoint({}).kind === 'faulty').toBe(true)
    const odd = Object.fromEntries([...Object.entries(checkpoint(0, 5)), ['__proto__', '1'], ['constructor', '2']])
    expect(decodeCheckpoint(odd)).toMatchObject({
      faults: [
        { kind: 'unknown', field: '__proto__' },
        { kind: 'unknown', field: 'constructor' },
      ],
    })
  })

  it('[CKP-2] a huge damaged text is shown in part', () => {
    const decoded = decodeCheckpoint({ ...checkpoint(0, 5), next_offset: '9'.repeat(100_000) })
    expect(decoded).toEqual({
      kind: 'faulty',
      faults: [{ kind: 'unparseable', field: 'next_offset', text: '9'.repeat(64) }],
    })
  })
})
