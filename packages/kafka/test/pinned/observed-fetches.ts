import { tracingChannel } from 'node:diagnostics_channel'
import type { FetchAnswer } from '../../src/pinned/fetch-answer.ts'
import { FETCH_KEY } from '../../src/pinned/fetch-request.ts'

/** One fetch as it went over the wire. */
export interface ObservedFetch {
  readonly sentMs: number
  /** Infinite while no answer has come. */
  answeredMs: number
  throttleMs: number
  bytes: number
}

/** What the client tells about each request. */
interface RequestTrace {
  readonly apiKey: number
  readonly result?: FetchAnswer
}

/** Watches every fetch that leaves this process by the client's own diagnostics. */
export function observeFetches(): { readonly fetches: readonly ObservedFetch[]; end(): void } {
  const channel = tracingChannel<string, RequestTrace>('plt:kafka:connections:api')
  const fetches: ObservedFetch[] = []
  const underWay = new WeakMap<RequestTrace, ObservedFetch>()
  const observer = {
    start(trace: RequestTrace) {
      if (trace.apiKey !== FETCH_KEY) return
      const fetch = { sentMs: performance.now(), answeredMs: Infinity, throttleMs: 0, bytes: 0 }
      underWay.set(trace, fetch)
      fetches.push(fetch)
    },
    asyncEnd(trace: RequestTrace) {
      const fetch = underWay.get(trace)
      if (fetch === undefined || trace.result === undefined) return
      const { throttleMs, partitions } = trace.result
      const bytes = partitions.reduce((sum, { records }) => sum + (records?.length ?? 0), 0)
      Object.assign(fetch, { answeredMs: performance.now(), throttleMs, bytes })
    },
  }
  channel.subscribe(observer as never)
  return { fetches, end: () => channel.unsubscribe(observer as never) }
}
