import { encodeMeta, planStart } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { encodeWitness, witnessOf } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { bounds, checkpoint, identity, input, namespace, nothing, reasons, stored } from './planner-input.ts'

const messages = (state: ReturnType<typeof stored>): readonly string[] => {
  const verdict = planStart(input({ stored: state }))
  return verdict.kind === 'refused' ? verdict.refusals.map(({ message }) => message) : []
}

describe('stored state that is damaged or contradicts itself', () => {
  it('[CKP-3] [CK-57] names the key, the field and the text', () => {
    const checkpoints = new Map([
      [0, { ...checkpoint(0, 5), next_offset: '', extra: 'x' }],
      [1, checkpoint(1, 9)],
    ])
    expect(messages(stored([], { checkpoints }))).toEqual([
      'session_projection:checkpoint:dispatch:0 has the unknown field extra',
      'session_projection:checkpoint:dispatch:0: next_offset is ""',
    ])
  })

  it('[CKP-3] lists the damage of meta and of every checkpoint together', () => {
    const { topic_id: _, ...meta } = encodeMeta(identity)
    const checkpoints = new Map([
      [0, { ...checkpoint(0, 5), format_version: '2' }],
      [1, {}],
    ])
    const found = reasons(planStart(input({ stored: stored([], { meta, checkpoints }) })))
    expect(found.slice(0, 2)).toEqual(['FIELD_MISSING', 'FORMAT_VERSION@0'])
    expect(found.slice(2)).toEqual(Array.from({ length: 7 }, () => 'FIELD_MISSING@1'))
  })

  it('[CKP-3] [A4] a partition field unlike the key and an identity unlike meta are told', () => {
    const other = { ...identity, clusterId: 'cluster-b', partitionCount: 3 }
    const checkpoints = new Map([
      [0, checkpoint(1, 5)],
      [1, checkpoint(1, 9, other)],
    ])
    expect(reasons(planStart(input({ stored: stored([], { checkpoints }) })))).toEqual([
      'PARTITION_FIELD@0',
      'CHECKPOINT_UNLIKE_META@1',
      'CHECKPOINT_UNLIKE_META@1',
    ])
  })

  it('[CKP-3] a key that cannot be read is damaged, not absent', () => {
    const key = `${namespace}:checkpoint:dispatch:1`
    const unreadable = [{ key, problem: 'it holds a string where a hash is due' }]
    const within = [bounds(0, 0, 9), bounds(1, 500, 900)]
    const verdict = planStart(input({ stored: stored([5, undefined], { unreadable }) }, within))
    expect(reasons(verdict)).toEqual(['UNPARSEABLE'])
    const alone = { ...nothing, unreadable }
    expect(reasons(planStart(input({ stored: alone })))).toEqual(['UNPARSEABLE', 'CHECKPOINTS_WITHOUT_META'])
    const meta = { ...nothing, unreadable: [{ key: `${namespace}:meta`, problem: 'torn' }] }
    expect(reasons(planStart(input({ stored: meta })))).toEqual(['UNPARSEABLE'])
  })

  it('[CKP-3] a witness that is damaged or at the position is told', () => {
    const record = { partition: 0, leaderEpoch: 0, timestampMs: 1, key: null, value: null, headers: [] }
    const at5 = encodeWitness(witnessOf({ ...record, offset: offsetOf(5) }))
    for (const text of ['', '{}', at5.slice(1), at5]) {
      const witnesses = new Map([[0, text]])
      expect(reasons(planStart(input({ stored: stored([5, 9], { witnesses }) })))).toEqual(['UNPARSEABLE@0'])
    }
  })

  it('[CKP-3] a message stays on one line whatever was stored', () => {
    const checkpoints = new Map([
      [0, { ...checkpoint(0, 5), next_offset: '1\nstart allowed\r\u2028x' }],
      [1, { ...checkpoint(1, 9), 'new\nfield': '1' }],
    ])
    const witnesses = new Map([[0, 'a\nb']])
    const found = messages(stored([], { checkpoints, witnesses }))
    expect(found).toHaveLength(3)
    for (const message of found) expect(message).not.toMatch(/[\n\r\u2028]/)
    expect(found[0]).toContain(String.raw`1\u000astart allowed\u000d\u2028x`)
  })
})
