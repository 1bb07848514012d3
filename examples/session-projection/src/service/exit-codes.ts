import { isTidemarkError } from '@tidemark/core'

/** What the exit codes of the programs here mean. */
export const exitCodes = {
  /** Drained after SIGTERM or SIGINT, or done. */
  ok: 0,
  /** A fault of the program, or a comparison that failed. */
  failed: 1,
  /** A flag, a variable or an address makes no sense; nothing was connected. */
  wrongSettings: 2,
  /** The start was refused; every reason and its remedy was printed, nothing was changed. */
  refused: 3,
  /** The projection went dirty while running; a restart says whether it may go on. */
  dirty: 4,
  /** Log or store could not be asked: address, credentials, permission, tables, a directory that is held, or a deadline. */
  unavailable: 5,
} as const

/** One of the exit codes. */
export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes]

/** Whether an error blames a value that the operator gave, before anything was connected. */
export function isWrongSetting(error: unknown): boolean {
  return isTidemarkError(error) && /_(?:INVALID|UNSAFE_OPTION)$/.test(error.code)
}
