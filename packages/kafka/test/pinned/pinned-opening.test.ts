import { isTidemarkError, topicIdOf } from '@tidemark/core'
import type { NoAnswerReason } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { checkConnection } from '../../src/connection-options.ts'
import { openTopic } from '../../src/pinned/pinned-opening.ts'
import type { LeadersReading } from '../../src/pinned/topic-leaders.ts'

const topicId = topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5')
const connection = checkConnection({ brokers: ['b:1'] })
const leader = { leaderId: 1, leaderEpoch: 0 }
const unread = (reason: NoAnswerReason, isLoginRefused = false): LeadersReading => {
  return { kind: 'unread', reason, message: `because of ${reason}`, isLoginRefused }
}

async function opened(...readings: readonly LeadersReading[]): Promise<string> {
  let asked = 0
  const leaders = { ask: async () => readings[Math.min(asked++, readings.length - 1)]!, addressOf: () => undefined }
  const positions = [{ partition: 0, nextOffset: 0n as never }]
  return openTopic(connection, leaders, { topic: 't', positions, deadlineMs: 400 }).catch((error: unknown) =>
    isTidemarkError(error) ? error.code : String(error),
  )
}

const described = (leaders: ReadonlyMap<number, typeof leader>): LeadersReading => {
  return { kind: 'described', topicId, partitionCount: 1, leaders }
}

describe('opening a pinned reader', () => {
  it.each([
    [unread('unsupported'), 'TM_KAFKA_PINNING_UNSUPPORTED'],
    [unread('zero-topic-id'), 'TM_KAFKA_PINNING_UNSUPPORTED'],
    [unread('authorization'), 'TM_KAFKA_AUTHORIZATION_FAILED'],
    [unread('authorization', true), 'TM_KAFKA_AUTHENTICATION_FAILED'],
    [unread('unreachable'), 'TM_KAFKA_UNREACHABLE'],
    [unread('no-leader'), 'TM_KAFKA_UNREACHABLE'],
    [described(new Map()), 'TM_KAFKA_UNREACHABLE'],
    [{ kind: 'gone', message: 'no such topic' } as const, 'TM_KAFKA_UNKNOWN_TOPIC'],
  ])('[KAF-28] fails with its code: case %#', async (reading, code) => {
    expect(await opened(reading)).toBe(code)
  })

  it('[KAF-28] waits within its deadline for a leader that is being elected', async () => {
    expect(await opened(unread('no-leader'), described(new Map()), described(new Map([[0, leader]])))).toBe(topicId)
  })
})
