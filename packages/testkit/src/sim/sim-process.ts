import type { CancelSignal, Clock } from '@tidemark/core'
import type { CommittedLog, LogReader, TopicInspector } from '@tidemark/log'
import { simErrors } from './errors.ts'

/** What happens at a point of a life. */
export type FaultKind =
  /** The process dies before the call reaches the server. */
  | 'crash-before'
  /** The process dies after the call took effect, before it hears of it. */
  | 'crash-after'
  /** The call never reaches the server and the caller gets an error. */
  | 'reply-lost-before'
  /** The call takes effect and the caller gets an error. */
  | 'reply-lost-after'

/** One planned fault: at which call of a life, counted from 1, and what. */
export interface PlannedFault {
  readonly call: number
  readonly kind: FaultKind
}

/**
 * One life of a simulated process. Whatever it awaits goes through its guards, so that it can die at any of them.
 *
 * A dead process hears nothing more: what it awaits stays pending for ever and no call of its reaches the world.
 */
export interface SimProcess {
  /** A port whose named methods count as calls of this life. Other members pass through. */
  guard<P extends object>(label: string, port: P, methods: readonly (keyof P & string)[]): P
  /** A log with its inspector, readers and read-backs guarded. */
  guardLog(log: CommittedLog): CommittedLog
  /** A clock whose sleepers die with the process. Sleeping is no call: nothing happens at it. */
  guardClock(clock: Clock): Clock
  /** Calls made so far. */
  readonly calls: number
  /** Label of the last call. */
  readonly lastCall: string
  readonly dead: boolean
  /** Resolves when the process dies; never otherwise. */
  readonly death: Promise<PlannedFault>
  /** Label of the call at which the planned fault took place; `undefined` until then. */
  readonly faultedCall: string | undefined
  /** Ends the process from outside, as SIGKILL does. */
  kill(): void
}

/** A process that dies or loses a reply at a planned call; without a plan it lives. */
export function createSimProcess(fault?: PlannedFault): SimProcess {
  let calls = 0
  let lastCall = 'none'
  let dead = false
  let faultedCall: string | undefined
  let announce: (fault: PlannedFault) => void = () => undefined
  const death = new Promise<PlannedFault>((resolve) => {
    announce = resolve
  })
  const die = (by: PlannedFault): void => {
    dead = true
    announce(by)
  }
  const call = async <T>(label: string, work: () => Promise<T>): Promise<T> => {
    if (dead) return never()
    calls += 1
    lastCall = label
    const kind = fault !== undefined && fault.call === calls ? fault.kind : undefined
    if (kind === undefined) return outcomeIfAlive(() => dead, work)
    faultedCall = label
    if (kind === 'crash-before') {
      die(fault!)
      return never()
    }
    if (kind === 'reply-lost-before') {
      throw simErrors.create('TM_SIM_REPLY_LOST', { call: label, applied: false })
    }
    await work().catch(() => undefined)
    if (dead) return never()
    if (kind === 'reply-lost-after') throw simErrors.create('TM_SIM_REPLY_LOST', { call: label, applied: true })
    die(fault!)
    return never()
  }
  const guard = <P extends object>(label: string, port: P, methods: readonly (keyof P & string)[]): P =>
    new Proxy(port, {
      get(target, property) {
        // Read from the target itself, so that getters and private state see the port and not the guard.
        const value: unknown = Reflect.get(target, property, target)
        if (typeof value !== 'function') return value
        const member = value as (...args: unknown[]) => unknown
        if (!(methods as readonly (string | symbol)[]).includes(property)) return member.bind(target)
        return (...args: unknown[]) =>
          call(`${label}.${String(property)}`, async () => await (member.apply(target, args) as Promise<unknown>))
      },
    })
  const guardReader = (reader: LogReader): LogReader => guard('reader', reader, ['poll', 'describeTopic', 'close'])
  return {
    guard,
    guardLog(log) {
      const outer = guard('log', log, ['openReader', 'readBack', 'close'])
      const inspector = guard<TopicInspector>('inspector', log.inspector, [
        'surveyIdentity',
        'readBounds',
        'readSettings',
      ])
      return {
        inspector,
        openReader: async (request) => guardReader(await outer.openReader(request)),
        readBack: (request) => outer.readBack(request),
        close: () => outer.close(),
      }
    },
    guardClock: (clock) => ({
      monotonicMs: () => clock.monotonicMs(),
      wallMs: () => clock.wallMs(),
      sleep: (durationMs: number, signal?: CancelSignal) =>
        dead
          ? never()
          : outcomeIfAlive(
              () => dead,
              () => clock.sleep(durationMs, signal),
            ),
    }),
    get calls() {
      return calls
    },
    get lastCall() {
      return lastCall
    },
    get dead() {
      return dead
    },
    death,
    get faultedCall() {
      return faultedCall
    },
    kill: () => die({ call: calls, kind: 'crash-after' }),
  }
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined)
}

/** The outcome of work, unless the process has died meanwhile: then nobody is left to hear it. */
async function outcomeIfAlive<T>(isDead: () => boolean, work: () => Promise<T>): Promise<T> {
  try {
    const value = await work()
    return isDead() ? await never<T>() : value
  } catch (error) {
    if (isDead()) return never<T>()
    throw error
  }
}
