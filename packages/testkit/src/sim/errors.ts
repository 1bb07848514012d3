import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

interface SimErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_SIM_TOPIC_UNKNOWN: ErrorSpec<{ readonly topic: string; readonly partition: number | null }>
  readonly TM_SIM_CLOSED: ErrorSpec<{ readonly what: string }>
  readonly TM_SIM_WORLD_INVALID: ErrorSpec<{ readonly action: string; readonly reason: string }>
  readonly TM_SIM_REPLY_LOST: ErrorSpec<{ readonly call: string; readonly applied: boolean }>
  readonly TM_SIM_CRASH_POINT_MISSED: ErrorSpec<{ readonly point: string; readonly reached: number }>
  readonly TM_SIM_LIFE_STUCK: ErrorSpec<{ readonly life: number; readonly callsMax: number; readonly lastCall: string }>
}

/** Every error the simulated world can raise. */
export const simErrors: ErrorCatalogue<SimErrorSpecs> = defineErrors<SimErrorSpecs>('SIM', {
  TM_SIM_TOPIC_UNKNOWN: {
    retriable: true,
    message: (d) =>
      `the simulated cluster has no topic ${d.topic}${d.partition === null ? '' : ` with a partition ${d.partition}`}`,
    remedy: 'Create the topic in the simulated cluster before it is opened.',
  },
  TM_SIM_CLOSED: {
    retriable: false,
    message: (d) => `${d.what} is closed`,
    remedy: 'Open a new one; a closed simulated log does not come back.',
  },
  TM_SIM_WORLD_INVALID: {
    retriable: false,
    message: (d) => `the simulated world cannot ${d.action}: ${d.reason}`,
    remedy: 'Correct the test: it asked for something no real cluster would do.',
  },
  TM_SIM_REPLY_LOST: {
    retriable: true,
    message: (d) => `${d.call} was cut: the caller gets no reply`,
    remedy: 'Nothing to repair: the simulation cuts replies on purpose.',
  },
  TM_SIM_CRASH_POINT_MISSED: {
    retriable: false,
    message: (d) => `crash point ${d.point} was never reached; the run ended after ${d.reached} calls`,
    remedy: 'Make the run repeatable for one seed; a point that is not reached proves nothing.',
  },
  TM_SIM_LIFE_STUCK: {
    retriable: false,
    message: (d) => `life ${d.life} neither ended nor went on within ${d.callsMax} calls; the last was ${d.lastCall}`,
    remedy: 'Find what the life waits for, or raise callsMax if it is meant to be that long.',
  },
})
