import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

interface ServiceErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_SERVICE_UNAVAILABLE: ErrorSpec<{
    readonly service: string
    readonly tried: string[]
    readonly remedy: string
  }>
  readonly TM_SERVICE_NOT_READY: ErrorSpec<{
    readonly service: string
    readonly address: string
    readonly deadlineMs: number
    readonly lastAnswer: string
    readonly log: string
  }>
  readonly TM_SERVICE_DIED: ErrorSpec<{
    readonly service: string
    readonly exit: string
    readonly log: string
  }>
  readonly TM_SERVICE_STATE_INVALID: ErrorSpec<{
    readonly service: string
    readonly action: string
    readonly state: string
  }>
}

/** Every error the real-service endpoints can raise; a missing service is always one of these, never a skipped test. */
export const serviceErrors: ErrorCatalogue<ServiceErrorSpecs> = defineErrors<ServiceErrorSpecs>('SERVICE', {
  TM_SERVICE_UNAVAILABLE: {
    retriable: false,
    message: (d) => `${d.service} cannot be had (${d.tried.join('; ')}): ${d.remedy}`,
    remedy: 'Name a running service in the environment, start Docker, or install the local binary the message names.',
  },
  TM_SERVICE_NOT_READY: {
    retriable: true,
    message: (d) =>
      `${d.service} at ${d.address} did not answer its protocol within ${d.deadlineMs} ms (last: ${d.lastAnswer})${d.log}`,
    remedy: 'Read the end of the log in the message; on a busy machine raise readyTimeoutMs.',
  },
  TM_SERVICE_DIED: {
    retriable: false,
    message: (d) => `${d.service} ended before it was ready (${d.exit})${d.log}`,
    remedy: 'Read the end of the log in the message: most often a bad configuration line or a port that was taken.',
  },
  TM_SERVICE_STATE_INVALID: {
    retriable: false,
    message: (d) => `${d.service} cannot ${d.action} while it is ${d.state}`,
    remedy: 'Follow the life cycle: running -> paused -> running, running -> dead -> restart.',
  },
})
