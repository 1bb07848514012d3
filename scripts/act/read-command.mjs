import { commandFlags, commandWordsMax, helpText } from '../plan/command-help.mjs'
import { parseCommandLine } from '../plan/command-line.mjs'

/**
 * The flags and words this process was called with; `undefined` when it was asked for help, which has been printed then.
 *
 * Throws: UsageError for what the command does not take.
 */
export function readCommand(name, args = process.argv.slice(2)) {
  const command = parseCommandLine(args, commandFlags(name), commandWordsMax(name))
  if (command.flags.help === undefined) return command
  process.stdout.write(`${helpText(name)}\n`)
  return undefined
}
