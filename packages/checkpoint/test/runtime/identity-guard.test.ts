import { createCancelSource } from '@tidemark/core'
import type { Clock } from '@tidemark/core'
import type { ClientStatement, IdentitySurvey, LogReader, SurveyVerdict, TopicInspector } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { createIdentityGuard } from '../../src/runtime/run/identity-guard.ts'
import type { IdentityGuard } from '../../src/runtime/run/identity-guard.ts'
import { identity } from '../planner-input.ts'

/** One survey that was asked for and waits for its answer. */
interface Asked {
  answer(survey: IdentitySurvey): void
  reject(error: Error): void
}

interface GuardWorld {
  readonly guard: IdentityGuard
  /** Surveys asked for so far, in order. */
  readonly asked: readonly Asked[]
  readonly verdicts: SurveyVerdict[]
  abort(): void
}

const settle = async (): Promise<void> => {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
}

const ours: IdentitySurvey = {
  topic: identity.topic,
  answers: [{ brokerId: 1, statement: { kind: 'described', ...identity }, listedBrokerIds: [1] }],
}

const noAnswer: IdentitySurvey = {
  topic: identity.topic,
  answers: [{ brokerId: 1, statement: { kind: 'no-answer', reason: 'timeout', message: 'late' }, listedBrokerIds: [] }],
}

function world(): GuardWorld {
  const cancel = createCancelSource()
  const asked: Asked[] = []
  const verdicts: SurveyVerdict[] = []
  const surveyIdentity = (): Promise<IdentitySurvey> =>
    new Promise((resolve, reject) => void asked.push({ answer: resolve, reject }))
  const describeTopic = async (): Promise<ClientStatement> => ({ kind: 'described', ...identity })
  // Deadlines never pass and pauses end at once: what is tested here is order, not time.
  const clock: Clock = {
    monotonicMs: () => 0,
    wallMs: () => 0,
    sleep: (durationMs) => (durationMs === 100 ? Promise.resolve() : new Promise(() => undefined)),
  }
  const guard = createIdentityGuard({
    inspector: { surveyIdentity } as unknown as TopicInspector,
    reader: { describeTopic } as unknown as LogReader,
    held: identity,
    clock,
    signal: cancel.signal,
    inspectMsMax: 1_000,
    stallMsMax: 5_000,
    retryMs: 100,
    onChecked: (verdict) => void verdicts.push(verdict),
  })
  return { guard, asked, verdicts, abort: () => cancel.cancel() }
}

describe('the identity guard', () => {
  it('[CKP-31] a check proves no fetch that returned after it started; one more check is asked for at once', async () => {
    const { guard, asked } = world()
    const first = guard.countFetch()
    expect(asked).toHaveLength(1)
    const second = guard.countFetch()
    asked[0]!.answer(ours)
    await settle()
    expect([guard.decide(first).kind, guard.decide(second).kind]).toEqual(['apply', 'hold'])
    expect(asked).toHaveLength(2)
    asked[1]!.answer(ours)
    await settle()
    expect(guard.decide(second).kind).toBe('apply')
    expect(asked).toHaveLength(2)
  })

  it('[CKP-35] a verdict asked for during a check is that of the next one', async () => {
    const { guard, asked } = world()
    guard.countFetch()
    let verdict: SurveyVerdict | undefined
    void guard.freshVerdict().then((told) => (verdict = told))
    asked[0]!.answer(ours)
    await settle()
    expect(verdict).toBeUndefined()
    asked[1]!.answer(ours)
    await settle()
    expect(verdict?.kind).toBe('proven')
  })

  it('[CKP-31] without an answer it asks again by itself, as long as something waits for proof', async () => {
    const { guard, asked } = world()
    const fetch = guard.countFetch()
    asked[0]!.answer(noAnswer)
    await settle()
    expect(guard.decide(fetch).kind).toBe('hold')
    asked[1]!.reject(new Error('no route'))
    await settle()
    expect(asked).toHaveLength(3)
    asked[2]!.answer(ours)
    await settle()
    expect(guard.decide(fetch).kind).toBe('apply')
    void guard.freshVerdict()
    asked[3]!.answer(noAnswer)
    await settle()
    expect(asked).toHaveLength(4)
  })

  it('[CKP-31] whoever waits when the run ends is told that nothing was proven', async () => {
    const { guard, abort, asked } = world()
    guard.countFetch()
    const waiting = guard.freshVerdict()
    abort()
    expect((await waiting).kind).toBe('unproven')
    expect((await guard.freshVerdict()).kind).toBe('unproven')
    asked[0]!.answer(noAnswer)
    await settle()
    expect(asked).toHaveLength(1)
  })
})
