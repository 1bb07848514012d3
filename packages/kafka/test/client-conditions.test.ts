import { describe, expect, it } from 'vitest'
import { conditionOf, eventConditionOf, noAnswerReasonOf, readFailureOf } from '../src/reading/client-conditions.ts'
import { loadConfluentClient, requireInspectorClient } from '../src/client-packages.ts'
import { statementOf } from '../src/reading/kafka-reader.ts'

const error = (code: number, message = 'words') => ({ code, message })

describe('what the client tells', () => {
  it.each([
    [-140, 'out-of-range'],
    [-139, 'out-of-range'],
    [1, 'out-of-range'],
    [3, 'unknown-topic'],
    [100, 'unknown-topic'],
    [-190, 'unknown-topic'],
    [29, 'authorization'],
    [-169, 'authorization'],
    [30, 'authorization'],
    [-195, 'connection'],
    [-185, 'connection'],
    [-172, 'closed'],
    [-199, 'other'],
    [87, 'other'],
  ])('[KAF-6] error %i ends the reader as %s, with the code in the words', (code, reason) => {
    const failure = readFailureOf(error(code), 'words', undefined)
    expect(failure).toMatchObject({ reason, partition: undefined })
    expect(failure.message).toContain(`(code ${code})`)
  })

  it.each([
    ['authentication failure', 'authentication'],
    ['broker: topic authorization failed', 'authorization'],
    ['group authorization failed', 'group-authorization'],
    ['unknown topic or partition', 'unknown-topic'],
    ['unknown partition', 'unknown-topic'],
    ['fatal error', 'other'],
    ['all broker connections are down', 'connection'],
    ['broker transport failure', 'connection'],
    ['ssl error', 'connection'],
    ['something new', 'connection'],
  ])('[KAF-6] the event "%s" is taken by its words, because its code is always -1', (message, condition) => {
    expect(eventConditionOf(error(-1, message))).toBe(condition)
  })

  it('[KAF-9] the own client says who it is, or why it cannot', () => {
    const topic = (base64: string | undefined, count = 2) => ({
      kind: 'topic' as const,
      topic: {
        name: 't',
        ...(base64 === undefined ? {} : { topicId: { base64 } }),
        partitions: Array.from({ length: count }, (_, partition) => ({ partition })),
      },
    })
    expect(statementOf(topic('7bzoge9/lr2doi1I/Wji9Q'))).toEqual({
      kind: 'described',
      topicId: 'edbce881-ef7f-96bd-9da2-2d48fd68e2f5',
      partitionCount: 2,
    })
    expect(statementOf(topic('7bzoge9_lr2doi1I_Wji9Q'))).toEqual(statementOf(topic('7bzoge9/lr2doi1I/Wji9Q')))
    expect(statementOf(topic('AAAAAAAAAAAAAAAAAAAAAA'))).toMatchObject({ reason: 'zero-topic-id' })
    expect(statementOf(topic('what?'))).toMatchObject({ reason: 'malformed' })
    expect(statementOf(topic(undefined))).toMatchObject({ reason: 'unsupported' })
    expect(statementOf(topic('7bzoge9/lr2doi1I/Wji9Q', 0))).toMatchObject({ reason: 'malformed' })
    const condition = (code: number) =>
      statementOf({ kind: 'condition', condition: conditionOf(error(code)), message: 'm' })
    const reasons = [3, 29, -185, -195, 35, -199].map((code) => condition(code))
    expect(reasons.map((said) => said.kind === 'no-answer' && said.reason)).toEqual([
      'unknown-topic',
      'authorization',
      'timeout',
      'unreachable',
      'unsupported',
      'malformed',
    ])
    expect(noAnswerReasonOf('closed')).toBe('unreachable')
  })

  it('[KAF-13] a missing peer is named with what to do', () => {
    const absent = (name: string): never => {
      throw new Error(`Cannot find module '${name}'\nRequire stack:\n- a/long/list`)
    }
    for (const load of [() => loadConfluentClient(absent), () => requireInspectorClient(absent)]) {
      expect(load).toThrowError(
        expect.objectContaining({
          code: 'TM_KAFKA_CLIENT_MISSING',
          message: expect.not.stringContaining('\n'),
          remedy: expect.stringContaining('Install'),
        }),
      )
    }
  })
})
