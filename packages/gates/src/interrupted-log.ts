import type { CommittedLog } from '@tidemark/log'

/** Where a start can be interrupted, in the order it gets there. */
export type StartMoment =
  'before the bounds' | 'after the first bounds' | 'after the last bounds' | 'before the first fetch'

/**
 * A real log at which something happens at one moment of a start, while the start waits for it.
 *
 * A start reads the bounds twice, before and after it claims the fences, and then opens the reader.
 */
export function interruptLog(log: CommittedLog, moment: StartMoment, act: () => Promise<void>): CommittedLog {
  let boundsRead = 0
  const at = async (reached: StartMoment): Promise<void> => {
    if (reached === moment) await act()
  }
  return {
    inspector: {
      surveyIdentity: (topic, inspect) => log.inspector.surveyIdentity(topic, inspect),
      readSettings: (topic, inspect) => log.inspector.readSettings(topic, inspect),
      async readBounds(topic, partitionCount, inspect) {
        boundsRead += 1
        if (boundsRead === 1) await at('before the bounds')
        const reading = await log.inspector.readBounds(topic, partitionCount, inspect)
        if (boundsRead === 1) await at('after the first bounds')
        if (boundsRead === 2) await at('after the last bounds')
        return reading
      },
    },
    readBack: (request) => log.readBack(request),
    async openReader(request) {
      // A client fetches ahead from the moment of its assignment, so the moment before it is the last one without a fetch.
      await at('before the first fetch')
      return log.openReader(request)
    },
    close: () => log.close(),
  }
}
