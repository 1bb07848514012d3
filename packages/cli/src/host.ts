import type { CancelSignal } from '@tidemark/core'

/** One of the two output streams. */
export interface Terminal {
  write(text: string): void
  readonly isTTY: boolean
  /** Columns of the screen; absent where there is none. */
  readonly columns: number | undefined
}

/** PORT: everything of the process that a command may use. */
export interface CommandHost {
  /** Without the program and the script. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly stdout: Terminal
  readonly stderr: Terminal
  /** Aborted by the first SIGINT or SIGTERM. */
  readonly signal: CancelSignal
}
