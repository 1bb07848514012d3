import type { CommandHost, Terminal } from '../host.ts'

/** Ways to set a piece of text apart; each returns it as it is where colours are not wanted. */
export interface Style {
  strong(text: string): string
  faint(text: string): string
  good(text: string): string
  bad(text: string): string
  warn(text: string): string
}

/** Whether a stream gets colours: a screen that can, unless NO_COLOR says no or FORCE_COLOR says yes. */
export function wantsColor(terminal: Terminal, env: CommandHost['env']): boolean {
  if ((env['NO_COLOR'] ?? '') !== '') return false
  if ((env['FORCE_COLOR'] ?? '') !== '' && env['FORCE_COLOR'] !== '0') return true
  return terminal.isTTY && env['TERM'] !== 'dumb'
}

/** The style of a stream. */
export function styleOf(colored: boolean): Style {
  const wrap =
    (open: number, close: number) =>
    (text: string): string =>
      colored ? `\u001b[${open}m${text}\u001b[${close}m` : text
  return { strong: wrap(1, 22), faint: wrap(2, 22), good: wrap(32, 39), bad: wrap(31, 39), warn: wrap(33, 39) }
}
