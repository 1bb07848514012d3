import type { CancelSignal, Clock } from '@tidemark/core'
import { messageOf, withDeadline } from '@tidemark/core'
import { checkEnded, checkStarted, decideFetch, fetchReturned, judgeSurvey, newIdentityLease } from '@tidemark/log'
import type {
  ClientStatement,
  IdentityLease,
  LeaseDecision,
  LogIdentity,
  LogReader,
  SurveyVerdict,
  TopicInspector,
} from '@tidemark/log'

/** Runs identity checks, one at a time, and says which fetches they prove. */
export interface IdentityGuard {
  readonly lease: IdentityLease
  /** Counts a fetch that brought something and asks for a check that starts from now on. Returns its number. */
  countFetch(): number
  /** Whether a fetch may be applied. */
  decide(fetch: number): LeaseDecision
  /** The verdict of a check that starts after this call. */
  freshVerdict(): Promise<SurveyVerdict>
}

/**
 * How much longer than its deadline a port is waited for. Ports keep their deadlines and say more than a time-out does;
 * one that does not must end in dirty all the same, not in silence.
 */
export const portGraceMs = 500

/** What the guard works with. */
export interface IdentityGuardOptions {
  readonly inspector: TopicInspector
  readonly reader: LogReader
  readonly held: LogIdentity
  readonly clock: Clock
  readonly signal: CancelSignal
  readonly inspectMsMax: number
  readonly stallMsMax: number
  /** Pause before asking again after no answer. */
  readonly retryMs: number
  /** Called after every check, when the lease already tells its result. */
  onChecked(verdict: SurveyVerdict, durationMs: number): void
}

/**
 * The guard of one reader. A check asks every broker and the reader's own client; it covers every fetch counted before
 * it started, so it overlaps with the work on earlier ones. Promises: CKP-31.
 */
export function createIdentityGuard(options: IdentityGuardOptions): IdentityGuard {
  const { clock, signal, stallMsMax } = options
  let lease = newIdentityLease(clock.monotonicMs())
  let wanted = false
  let running = false
  let waiters: ((verdict: SurveyVerdict) => void)[] = []

  // Whoever waits for a check must not wait for ever when the run ends; a stopped run proves nothing.
  signal.addEventListener('abort', () => answerAll(stoppedVerdict), { once: true })
  const answerAll = (verdict: SurveyVerdict): void => {
    const answered = waiters
    waiters = []
    for (const answer of answered) answer(verdict)
  }

  const runChecks = async (): Promise<void> => {
    running = true
    while (wanted && !signal.aborted) {
      wanted = false
      const answered = waiters
      waiters = []
      lease = checkStarted(lease)
      const startedMs = clock.monotonicMs()
      const verdict = await check(options)
      lease = checkEnded(lease, verdict, clock.monotonicMs())
      options.onChecked(verdict, clock.monotonicMs() - startedMs)
      for (const answer of answered) answer(verdict)
      if (verdict.kind === 'unproven' && lease.fetched > lease.proven) {
        await clock.sleep(options.retryMs, signal)
        wanted = true
      }
    }
    running = false
  }
  const want = (): void => {
    wanted = true
    if (!running) void runChecks()
  }
  return {
    get lease() {
      return lease
    },
    countFetch() {
      lease = fetchReturned(lease)
      want()
      return lease.fetched
    },
    decide: (fetch) => decideFetch(lease, fetch, clock.monotonicMs(), stallMsMax),
    freshVerdict: () =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve(stoppedVerdict)
        waiters.push(resolve)
        want()
      }),
  }
}

const stoppedVerdict: SurveyVerdict = {
  kind: 'unproven',
  brokerId: 'none',
  reason: 'unreachable',
  message: 'the projection was stopped',
}

async function check(options: IdentityGuardOptions): Promise<SurveyVerdict> {
  const { inspector, reader, held, clock, inspectMsMax: deadlineMs, signal } = options
  try {
    const answers = Promise.all([
      inspector.surveyIdentity(held.topic, { deadlineMs, signal }),
      reader.describeTopic(deadlineMs).catch((error: unknown): ClientStatement => {
        return { kind: 'no-answer', reason: 'unreachable', message: messageOf(error) }
      }),
    ])
    const [survey, client] = await withDeadline(clock, 'the identity check', deadlineMs + portGraceMs, answers)
    return judgeSurvey(survey, held, client)
  } catch (error) {
    return { kind: 'unproven', brokerId: 'none', reason: 'unreachable', message: messageOf(error) }
  }
}
