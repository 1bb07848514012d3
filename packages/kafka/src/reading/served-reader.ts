import type { LogReader } from '@tidemark/log'

/**
 * A reader that tells whether brokers still serve it, also while nothing is there to be handed out: a long stretch of
 * aborted transactions delivers nothing until it is passed.
 */
export interface ServedReader extends LogReader {
  /**
   * Until when brokers are known to have served it: when a fetch last brought something, or the end of the rest that a
   * broker over its quota asked for, which may lie ahead. Units: monotonic milliseconds; 0 before the first sign.
   */
  servedUntilMs(): number
}
