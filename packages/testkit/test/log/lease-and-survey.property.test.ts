import { topicIdOf } from '@tidemark/core'
import { checkEnded, checkStarted, decideFetch, fetchReturned, judgeSurvey, newIdentityLease } from '@tidemark/log'
import { decodeFence, decodeWitness, encodeFence, encodeWitness } from '@tidemark/log'
import type { BrokerAnswer, ClientStatement, IdentityStatement, LogIdentity, SurveyVerdict } from '@tidemark/log'
import { offsetOf } from '@tidemark/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runSize } from '../run-size.ts'

const held: LogIdentity = {
  clusterId: 'c',
  topic: 't',
  topicId: topicIdOf('edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'),
  partitionCount: 2,
}
const other = topicIdOf('01234567-89ab-cdef-0123-456789abcdef')
const verdicts = {
  proven: { kind: 'proven', identity: held },
  unproven: { kind: 'unproven', brokerId: 1, reason: 'timeout', message: 'slow' },
  mismatch: { kind: 'mismatch', brokerId: 1, differences: [] },
} as const satisfies Record<string, SurveyVerdict>

type Event = 'fetch' | 'start' | 'proven' | 'unproven' | 'mismatch'

/**
 * The lease by its definition, kept as a history: a fetch is proven when some check started after it returned and ended
 * with a proof. Checks overlap, and an end is taken for that of the earliest start, the least it can be.
 */
function provenFetches(events: readonly Event[]): ReadonlySet<number> {
  let fetched = 0
  let open: number | undefined
  const proven = new Set<number>()
  for (const event of events) {
    if (event === 'fetch') fetched += 1
    else if (event === 'start') open ??= fetched
    else {
      if (event === 'proven') for (let fetch = 1; fetch <= (open ?? 0); fetch += 1) proven.add(fetch)
      open = undefined
    }
  }
  return proven
}

describe('the identity lease', () => {
  it('[LOG-5] [LOG-6] [A5] no fetch is ever applied without a proof that started after it', () => {
    const event = fc.constantFrom<Event>('fetch', 'fetch', 'start', 'start', 'proven', 'proven', 'unproven', 'mismatch')
    const quiet = fc.constantFrom<Event>('fetch', 'fetch', 'start', 'start', 'proven', 'proven', 'unproven')
    const history = fc.oneof(fc.array(quiet, { maxLength: 40 }), fc.array(event, { maxLength: 40 }))
    fc.assert(
      fc.property(history, (events) => {
        let lease = newIdentityLease(0)
        for (const each of events) {
          if (each === 'fetch') lease = fetchReturned(lease)
          else if (each === 'start') lease = checkStarted(lease)
          else lease = checkEnded(lease, verdicts[each], 0)
        }
        const proven = provenFetches(events)
        const isBroken = events.includes('mismatch')
        for (let fetch = 1; fetch <= lease.fetched; fetch += 1) {
          const decision = decideFetch(lease, fetch, 0, 10).kind
          if (isBroken) expect(decision).toBe('broken')
          else expect(decision).toBe(proven.has(fetch) ? 'apply' : 'hold')
        }
      }),
      runSize(10_000, 200_000),
    )
  })
})

describe('the survey', () => {
  const described = (topicId: LogIdentity['topicId']): IdentityStatement => ({
    kind: 'described',
    clusterId: held.clusterId,
    topicId,
    partitionCount: held.partitionCount,
  })
  const statement = fc.constantFrom<IdentityStatement>(
    ...Array.from({ length: 8 }, () => described(held.topicId)),
    described(other),
    { kind: 'no-answer', reason: 'timeout', message: 'slow' },
    { kind: 'no-answer', reason: 'zero-topic-id', message: 'none' },
  )
  const answer = (brokerId: number): fc.Arbitrary<BrokerAnswer> =>
    fc.record({
      brokerId: fc.constant(brokerId),
      statement,
      listedBrokerIds: fc.subarray([1, 2, 3, 4]),
    })
  const client = fc.constantFrom<ClientStatement | undefined>(
    undefined,
    { kind: 'described', topicId: held.topicId, partitionCount: 2 },
    { kind: 'described', topicId: held.topicId, partitionCount: 2 },
    { kind: 'described', topicId: other, partitionCount: 2 },
    { kind: 'no-answer', reason: 'timeout', message: 'slow' },
  )
  const answers = fc
    .tuple(answer(1), answer(2), answer(3), fc.subarray([0, 1, 2]))
    .map(([one, two, three, asked]) => asked.map((index) => [one, two, three][index]!))

  it('[LOG-2] [LOG-3] [LOG-4] proves only what every listed broker says, contradicts on any other id, else proves nothing', () => {
    const seen = { proven: 0, mismatch: 0, unproven: 0 }
    fc.assert(
      fc.property(answers, client, (given, own) => {
        const verdict = judgeSurvey({ topic: 't', answers: given }, held, own).kind
        seen[verdict] += 1
        const says = (each: BrokerAnswer): string =>
          each.statement.kind === 'no-answer' ? 'nothing' : each.statement.topicId === held.topicId ? 'held' : 'other'
        const contradicts =
          given.some((each) => says(each) === 'other') || (own?.kind === 'described' && own.topicId === other)
        const listed = new Set(given.flatMap((each) => each.listedBrokerIds))
        const agreeing = new Set(given.filter((each) => says(each) === 'held').map((each) => each.brokerId))
        const complete = agreeing.size > 0 && [...listed].every((brokerId) => agreeing.has(brokerId))
        if (contradicts) expect(verdict).toBe('mismatch')
        else if (!complete || own?.kind === 'no-answer') expect(verdict).toBe('unproven')
        // What a broker that lists others but does not know the topic leaves open is never a proof by itself.
        else if (given.every((each) => says(each) === 'held' || each.listedBrokerIds.length === 0))
          expect(verdict).toBe('proven')
      }),
      runSize(10_000, 200_000),
    )
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(50)
  })
})

describe('stored texts of the log package', () => {
  const hex = (length: number): fc.Arbitrary<string> =>
    fc.string({ unit: fc.constantFrom(...'0123456789abcdef'.split('')), minLength: length, maxLength: length })

  it('[LOG-8] a witness survives its text, and any changed character is refused or means another witness', () => {
    const witness = fc.record({
      offset: fc.bigInt(0n, 2n ** 63n - 1n).map((offset) => offsetOf(offset)),
      leaderEpoch: fc.integer({ min: -1, max: 2 ** 31 - 1 }),
      digest: hex(64),
    })
    fc.assert(
      fc.property(witness, fc.nat(), fc.string({ maxLength: 1 }), (value, at, character) => {
        const text = encodeWitness(value)
        expect(decodeWitness(text)).toEqual(value)
        const index = at % text.length
        const changed = `${text.slice(0, index)}${character}${text.slice(index + 1)}`
        const decoded = decodeWitness(changed)
        if (decoded !== undefined) expect(encodeWitness(decoded)).toBe(changed)
      }),
      runSize(3_000, 50_000),
    )
  })

  it('[LOG-10] a fence survives its text, and any changed character is refused or means another fence', () => {
    const fence = fc.record({ epoch: fc.bigInt(1n, 10n ** 19n - 1n), nonce: hex(32) })
    fc.assert(
      fc.property(fence, fc.nat(), fc.string({ maxLength: 1 }), (value, at, character) => {
        const text = encodeFence(value)
        expect(decodeFence(text)).toEqual(value)
        const index = at % text.length
        const changed = `${text.slice(0, index)}${character}${text.slice(index + 1)}`
        const decoded = decodeFence(changed)
        if (decoded !== undefined) expect(encodeFence(decoded)).toBe(changed)
      }),
      runSize(3_000, 50_000),
    )
  })
})
