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
  const life = createLife(fault)
  const guard = <P extends object>(label: string, port: P, methods: readonly (keyof P & string)[]): P =>
    guardPort(life, label, port, methods)
  const guardReader = (reader: LogReader): LogReader => guard('reader', reader, ['poll', 'describeTopic', 'close'])
  return {
    guard,
    guardLog(log) {
      const outer = guard('log', log, ['openReader', 'readBack', 'close'])
      const methods = ['surveyIdentity', 'readBounds', 'readSettings'] as const
      return {
        inspector: guard<TopicInspector>('inspector', log.inspector, methods),
        openReader: async (request) => guardReader(await outer.openReader(request)),
        readBack: (request) => outer.readBack(request),
        close: () => outer.close(),
      }
    },
    guardClock: (clock) => ({
      monotonicMs: () => clock.monotonicMs(),
      wallMs: () => clock.wallMs(),
      sleep: (durationMs: number, signal?: CancelSignal) =>
        life.dead ? never() : outcomeIfAlive(life, () => clock.sleep(durationMs, signal)),
    }),
    get calls() {
      return life.calls
    },
    get lastCall() {
      return life.lastCall
    },
    get dead() {
      return life.dead
    },
    death: life.death,
    get faultedCall() {
      return life.faultedCall
    },
    kill: () => life.die({ call: life.calls, kind: 'crash-after' }),
  }
}

interface Life {
  readonly calls: number
  readonly lastCall: string
  readonly dead: boolean
  readonly faultedCall: string | undefined
  readonly death: Promise<PlannedFault>
  die(by: PlannedFault): void
  call<T>(label: string, work: () => Promise<T>): Promise<T>
}

function createLife(fault: PlannedFault | undefined): Life {
  let announce: (fault: PlannedFault) => void = () => undefined
  const death = new Promise<PlannedFault>((resolve) => {
    announce = resolve
  })
  const life = {
    calls: 0,
    lastCall: 'none',
    dead: false,
    faultedCall: undefined as string | undefined,
    death,
    die(by: PlannedFault): void {
      life.dead = true
      announce(by)
    },
    async call<T>(label: string, work: () => Promise<T>): Promise<T> {
      if (life.dead) return never()
      life.calls += 1
      life.lastCall = label
      if (fault?.call !== life.calls) return outcomeIfAlive(life, work)
      life.faultedCall = label
      return suffer(life, fault, label, work)
    },
  }
  return life
}

/** What the caller of a faulted call gets: nothing any more, or an error that does not say what became of the call. */
async function suffer<T>(life: Life, fault: PlannedFault, label: string, work: () => Promise<T>): Promise<T> {
  switch (fault.kind) {
    case 'crash-before':
      life.die(fault)
      return never()
    case 'reply-lost-before':
      throw simErrors.create('TM_SIM_REPLY_LOST', { call: label, applied: false })
    case 'crash-after':
      await work().catch(() => undefined)
      if (!life.dead) life.die(fault)
      return never()
    case 'reply-lost-after':
      await work().catch(() => undefined)
      if (life.dead) return never()
      throw simErrors.create('TM_SIM_REPLY_LOST', { call: label, applied: true })
  }
}

function guardPort<P extends object>(life: Life, label: string, port: P, methods: readonly (keyof P & string)[]): P {
  return new Proxy(port, {
    get(target, property) {
      // Read from the target itself, so that getters and private state see the port and not the guard.
      const value: unknown = Reflect.get(target, property, target)
      if (typeof value !== 'function') return value
      const member = value as (...args: unknown[]) => unknown
      if (!(methods as readonly (string | symbol)[]).includes(property)) return member.bind(target)
      return (...args: unknown[]) =>
        life.call(`${label}.${String(property)}`, async () => await (member.apply(target, args) as Promise<unknown>))
    },
  })
}

function never<T>(): Promise<T> {
  return new Promise<T>(() => undefined)
}

/** The outcome of work, unless the process has died meanwhile: then nobody is left to hear it. */
async function outcomeIfAlive<T>(life: { readonly dead: boolean }, work: () => Promise<T>): Promise<T> {
  try {
    const value = await work()
    return life.dead ? await never<T>() : value
  } catch (error) {
    if (life.dead) return never<T>()
    throw error
  }
}
