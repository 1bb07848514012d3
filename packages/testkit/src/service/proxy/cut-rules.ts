/** What happens to one command (RESP framing). */
export type CommandAction =
  /** The command never reaches the server; both sides see a reset. */
  | { readonly kind: 'cut-before-forward' }
  /** Only the first bytes of the command reach the server, then a reset. */
  | { readonly kind: 'cut-in-request'; readonly bytes: number }
  /** The server executes the command, its whole reply is thrown away, then a reset. */
  | { readonly kind: 'cut-before-reply' }
  /** The server executes the command, the client gets the first bytes of the reply, then a reset. */
  | { readonly kind: 'cut-in-reply'; readonly bytes: number }
  /** The command is held this long before it is forwarded; later ones wait behind it. */
  | { readonly kind: 'delay'; readonly delayMs: number }
  /** Half-open: from this command on nothing is forwarded either way, and nothing is closed. */
  | { readonly kind: 'silence-before-forward' }
  /** The server executes the command; from its reply on nothing is forwarded either way, and nothing is closed. */
  | { readonly kind: 'silence-before-reply' }

/** Strikes the k-th command of a connection. Commands after a struck one are never forwarded, so the server has executed exactly what the rule says. */
export interface CommandRule {
  readonly on: 'command'
  /** From 1. Counts only commands of that name when `name` is given. */
  readonly command: number
  readonly name?: string
  /** From 1, in the order of connecting; any connection when absent. */
  readonly connection?: number
  readonly action: CommandAction
  /** Strikes every time it matches, not only the first. */
  readonly repeat?: boolean
}

/** Strikes after a number of bytes went one way, whatever the protocol. */
export interface ByteRule {
  readonly on: 'bytes'
  readonly direction: 'to-server' | 'to-client'
  /** So many bytes pass; the next one does not. */
  readonly bytes: number
  readonly connection?: number
  readonly action: 'cut' | 'silence'
  readonly repeat?: boolean
}

/** One programmed fault. */
export type CutRule = CommandRule | ByteRule

/** A command as a rule sees it. */
export interface SeenCommand {
  readonly connection: number
  /** Its number on the connection, from 1. */
  readonly command: number
  readonly name: string
  /** Its number among the commands of this name on the connection, from 1. */
  readonly ofName: number
}

/** Whether a rule strikes this command. */
export function strikesCommand(rule: CutRule, seen: SeenCommand): rule is CommandRule {
  if (rule.on !== 'command') return false
  if (rule.connection !== undefined && rule.connection !== seen.connection) return false
  if (rule.name === undefined) return rule.command === seen.command
  return rule.name.toUpperCase() === seen.name && rule.command === seen.ofName
}

/** How many of the next bytes may still pass before a byte rule strikes; `undefined` when it is not about this flow. */
export function bytesBeforeStrike(
  rule: CutRule,
  flow: { readonly connection: number; readonly direction: ByteRule['direction']; readonly passed: number },
): number | undefined {
  if (rule.on !== 'bytes' || rule.direction !== flow.direction) return undefined
  if (rule.connection !== undefined && rule.connection !== flow.connection) return undefined
  return Math.max(0, rule.bytes - flow.passed)
}
