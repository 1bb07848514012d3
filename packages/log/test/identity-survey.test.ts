import { identityDifferences, judgeSurvey } from '@tidemark/log'
import type { BrokerAnswer, ClientStatement, LogIdentity, NoAnswerReason } from '@tidemark/log'
import { topicIdOf } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

const held: LogIdentity = {
  clusterId: 'c1',
  topic: 'dispatch',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 4,
}
const recreated = topicIdOf('01234567-89ab-cdef-0123-456789abcdef')
const all = [1, 2, 3]

function says(brokerId: number, identity: Partial<LogIdentity> = {}, lists: readonly number[] = all): BrokerAnswer {
  const { clusterId, topicId, partitionCount } = { ...held, ...identity }
  return { brokerId, statement: { kind: 'described', clusterId, topicId, partitionCount }, listedBrokerIds: lists }
}

function silent(brokerId: number, reason: NoAnswerReason, lists: readonly number[] = []): BrokerAnswer {
  return {
    brokerId,
    statement: { kind: 'no-answer', reason, message: `${reason} of ${brokerId}` },
    listedBrokerIds: lists,
  }
}

const judge = (answers: readonly BrokerAnswer[], client?: ClientStatement) =>
  judgeSurvey({ topic: held.topic, answers }, held, client)
const judgeFirst = (answers: readonly BrokerAnswer[]) => judgeSurvey({ topic: held.topic, answers }, undefined)

describe('log identity', () => {
  it('[LOG-1] lists every difference, and none for the same log', () => {
    expect(identityDifferences(held, { ...held })).toEqual([])
    const other = { clusterId: 'c2', topic: 'x', topicId: recreated, partitionCount: 5 }
    expect(identityDifferences(held, other).map(({ field }) => field)).toEqual([
      'clusterId',
      'topic',
      'topicId',
      'partitionCount',
    ])
    expect(identityDifferences(held, { ...held, partitionCount: 5 })).toEqual([
      { field: 'partitionCount', expected: '4', found: '5' },
    ])
  })
})

describe('a survey', () => {
  it('[LOG-2] proves an identity that every listed broker states', () => {
    expect(judge(all.map((id) => says(id)))).toEqual({ kind: 'proven', identity: held })
    expect(judgeFirst(all.map((id) => says(id)))).toEqual({ kind: 'proven', identity: held })
    expect(judge([says(1, {}, [1])])).toEqual({ kind: 'proven', identity: held })
  })

  it('[LOG-2] needs an answer of a broker that only one other lists', () => {
    expect(judge([says(1, {}, [1]), says(2, {}, [1, 3])])).toMatchObject({
      kind: 'unproven',
      brokerId: 3,
      reason: 'unreachable',
    })
  })

  it('[LOG-2] lets a silent broker go only when no answer lists it any more', () => {
    expect(judge([says(1, {}, [1, 2]), says(2, {}, [1, 2]), silent(3, 'timeout')]).kind).toBe('proven')
    expect(judge([says(1, {}, [1, 2]), says(2, {}, all), silent(3, 'timeout')])).toMatchObject({
      kind: 'unproven',
      brokerId: 3,
      reason: 'timeout',
    })
  })

  it('[LOG-2] [CK-03] needs the reader’s own client to agree where it was asked', () => {
    const brokers = all.map((id) => says(id))
    const { topicId, partitionCount } = held
    expect(judge(brokers, { kind: 'described', topicId, partitionCount }).kind).toBe('proven')
    expect(judge(brokers, { kind: 'described', topicId: recreated, partitionCount })).toMatchObject({
      kind: 'mismatch',
      brokerId: 'client',
      differences: [{ field: 'topicId', expected: topicId, found: recreated }],
    })
    expect(judge(brokers, { kind: 'no-answer', reason: 'timeout', message: 'slow' })).toMatchObject({
      kind: 'unproven',
      brokerId: 'client',
    })
  })

  it.each<[string, Partial<LogIdentity>]>([
    ['topic id', { topicId: recreated }],
    ['cluster id', { clusterId: 'c2' }],
    ['partition count', { partitionCount: 5 }],
  ])('[LOG-3] [CK-03] another %s of one broker contradicts, whatever the others do', (_, changed) => {
    for (const others of [[says(1), says(3)], [silent(1, 'timeout'), silent(3, 'zero-topic-id')], []]) {
      expect(judge([...others, says(2, changed)])).toMatchObject({ kind: 'mismatch', brokerId: 2 })
    }
  })

  it.each<NoAnswerReason>([
    ...(['timeout', 'unreachable', 'unknown-topic', 'authorization', 'zero-topic-id'] as const),
    ...(['missing-cluster-id', 'no-leader', 'unsupported', 'malformed'] as const),
  ])('[LOG-4] %s of one broker proves nothing', (reason) => {
    for (const lists of [[], all]) {
      expect(judge([says(1), silent(2, reason, lists), says(3)])).toEqual({
        kind: 'unproven',
        brokerId: 2,
        reason,
        message: `${reason} of 2`,
      })
    }
    expect(judge(all.map((id) => silent(id, reason)))).toMatchObject({ kind: 'unproven', reason })
  })

  it('[LOG-4] no answers at all prove nothing', () => {
    expect(judge([])).toMatchObject({ kind: 'unproven', brokerId: 'none', reason: 'unreachable' })
    expect(judge([], { kind: 'described', topicId: held.topicId, partitionCount: 4 }).kind).toBe('unproven')
    expect(judgeFirst([])).toMatchObject({ kind: 'unproven', brokerId: 'none', reason: 'unreachable' })
  })

  it('[LOG-4] brokers that disagree prove nothing while no identity is held', () => {
    expect(judgeFirst([says(1), says(2, { topicId: recreated }), says(3)])).toMatchObject({
      kind: 'unproven',
      brokerId: 2,
      reason: 'disagreement',
    })
  })
})
