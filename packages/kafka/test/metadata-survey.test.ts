import { describe, expect, it } from 'vitest'
import { judgeSurvey } from '@tidemark/log'
import type { BrokerAddress } from '../src/connection-options.ts'
import { surveyBrokers } from '../src/inspection/metadata-survey.ts'
import { metadataOf, scriptedBrokers } from './scripted-brokers.ts'

const address = (text: string): BrokerAddress => ({ host: text.split(':')[0]!, port: Number(text.split(':')[1]) })
const three = { 1: 'b1:1', 2: 'b2:1', 3: 'b3:1' }
const known = (brokers: Readonly<Record<number, string>>): ReadonlyMap<number, BrokerAddress> =>
  new Map(Object.entries(brokers).map(([id, where]) => [Number(id), address(where)]))
const ids = (result: Awaited<ReturnType<typeof surveyBrokers>>): readonly number[] =>
  result.survey.answers.map(({ brokerId }) => brokerId).sort((a, b) => a - b)
const base = { topic: 't', bootstrap: [address('b1:1')], known: new Map<number, BrokerAddress>(), deadlineMs: 1500 }
const answering = () => metadataOf(three, [1, 2, 3])

describe('survey', () => {
  it('[KAF-9] starts at the bootstrap addresses and asks every listed broker once', async () => {
    const brokers = scriptedBrokers({ 'b1:1': answering, 'b2:1': answering, 'b3:1': answering })
    const result = await surveyBrokers(brokers, base)
    expect(ids(result)).toEqual([1, 2, 3])
    expect(brokers.asked.toSorted()).toEqual(['b1:1', 'b2:1', 'b3:1'])
    expect(judgeSurvey(result.survey, undefined).kind).toBe('proven')
    expect([...result.members.keys()]).toEqual([1, 2, 3])
  })

  it('[KAF-9] asks on until no answer lists a new broker', async () => {
    const brokers = scriptedBrokers({
      'b1:1': () => metadataOf({ 1: 'b1:1', 2: 'b2:1' }, [1]),
      'b2:1': () => metadataOf({ 2: 'b2:1', 3: 'b3:1' }, [1]),
      'b3:1': () => metadataOf({ 3: 'b3:1', 4: 'b4:1' }, [1]),
      'b4:1': () => metadataOf({ 1: 'b1:1' }, [1], '11111111-1111-1111-1111-111111111111'),
    })
    const result = await surveyBrokers(brokers, base)
    expect(ids(result)).toEqual([1, 2, 3, 4])
    expect(judgeSurvey(result.survey, undefined)).toMatchObject({ kind: 'unproven', reason: 'disagreement' })
  })

  it('[KAF-9] waits for a silent broker that others list, up to the deadline, and not for one that nobody lists', async () => {
    const silent = () => undefined
    const listed = scriptedBrokers({ 'b1:1': answering, 'b2:1': answering, 'b3:1': silent })
    const before = performance.now()
    const held = await surveyBrokers(listed, { ...base, known: known(three) })
    expect(performance.now() - before).toBeGreaterThan(1400)
    expect(judgeSurvey(held.survey, undefined)).toMatchObject({ kind: 'unproven', brokerId: 3, reason: 'timeout' })

    const two = () => metadataOf({ 1: 'b1:1', 2: 'b2:1' }, [1, 2])
    const dropped = scriptedBrokers({ 'b1:1': two, 'b2:1': two, 'b3:1': silent })
    const again = performance.now()
    const result = await surveyBrokers(dropped, { ...base, known: known(three) })
    expect(performance.now() - again).toBeLessThan(1000)
    expect(judgeSurvey(result.survey, undefined).kind).toBe('proven')
    expect([...result.members.keys()]).toEqual([1, 2])
  })

  it('[KAF-9] a silent bootstrap address does not hold up the others; a nameless one counts with an id of its own', async () => {
    const brokers = scriptedBrokers({
      'vip:1': () => metadataOf({ 1: 'b1:1' }, [1]),
      'b1:1': () => metadataOf({ 1: 'b1:1' }, [1]),
      'mute:1': () => undefined,
    })
    const before = performance.now()
    const result = await surveyBrokers(brokers, { ...base, bootstrap: [address('mute:1'), address('vip:1')] })
    expect(performance.now() - before).toBeLessThan(1000)
    expect(ids(result)).toEqual([-2, -1, 1])
    expect(judgeSurvey(result.survey, undefined).kind).toBe('proven')
  })

  it('[KAF-9] when every known broker is gone, discovery starts again', async () => {
    const brokers = scriptedBrokers({ 'new:1': () => metadataOf({ 7: 'new:1' }, [7]) })
    const result = await surveyBrokers(brokers, { ...base, bootstrap: [address('new:1')], known: known(three) })
    expect(judgeSurvey(result.survey, undefined)).toMatchObject({ kind: 'proven' })
    expect([...result.members.keys()]).toEqual([7])
  })

  it('[KAF-9] a broker that still believes in the old topic makes a mismatch, however many others agree', async () => {
    const old = () => metadataOf(three, [1, 2, 3], '22222222-2222-2222-2222-222222222222')
    const first = await surveyBrokers(
      scriptedBrokers({ 'b1:1': answering, 'b2:1': answering, 'b3:1': answering }),
      base,
    )
    const verdict = judgeSurvey(first.survey, undefined)
    if (verdict.kind !== 'proven') throw new Error('unproven')
    const mixed = await surveyBrokers(scriptedBrokers({ 'b1:1': answering, 'b2:1': answering, 'b3:1': old }), base)
    expect(judgeSurvey(mixed.survey, verdict.identity)).toMatchObject({ kind: 'mismatch', brokerId: 3 })
  })

  it('[KAF-9] ends at once when cancelled', async () => {
    const controller = new AbortController()
    setTimeout(() => controller.abort(), 20)
    const before = performance.now()
    const brokers = scriptedBrokers({ 'b1:1': () => undefined })
    const result = await surveyBrokers(brokers, { ...base, deadlineMs: 5000, signal: controller.signal })
    expect(performance.now() - before).toBeLessThan(1000)
    expect(judgeSurvey(result.survey, undefined).kind).toBe('unproven')
  })
})
