import { setTimeout as sleep } from 'node:timers/promises'
import { serviceErrors } from '../errors.ts'
import type { OwnedProcess } from './owned-process.ts'

/** One answer of a readiness probe: `undefined` when ready, else what came instead. */
export type ReadinessProbe = (timeoutMs: number) => Promise<string | undefined>

/** What is waited for. */
export interface ReadyOptions {
  readonly service: string
  readonly address: string
  readonly timeoutMs: number
  readonly probe: ReadinessProbe
  /** The process behind the address, when it is ours: its death ends the wait at once. */
  readonly owned?: OwnedProcess
}

const probeIntervalMs = 50

/**
 * Waits until a service answers its own protocol; an open port alone proves nothing.
 *
 * Throws: TM_SERVICE_DIED when our process ended, TM_SERVICE_NOT_READY at the deadline; both carry the end of the log.
 */
export async function waitUntilReady(options: ReadyOptions): Promise<void> {
  const { service, address, timeoutMs, owned } = options
  const deadline = performance.now() + timeoutMs
  let lastAnswer = 'nothing'
  for (;;) {
    if (owned?.state() === 'dead') {
      const details = { service: `${service} ${address}`, exit: owned.exit() ?? 'unknown', log: owned.logTail() }
      throw serviceErrors.create('TM_SERVICE_DIED', details)
    }
    const leftMs = deadline - performance.now()
    if (leftMs <= 0) {
      const details = { service, address, deadlineMs: timeoutMs, lastAnswer, log: owned?.logTail() ?? '' }
      throw serviceErrors.create('TM_SERVICE_NOT_READY', details)
    }
    const answer = await options.probe(Math.min(leftMs, 2_000))
    if (answer === undefined) return
    lastAnswer = answer
    await sleep(probeIntervalMs)
  }
}
