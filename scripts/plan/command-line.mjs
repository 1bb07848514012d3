import { UsageError } from './usage-error.mjs'

/**
 * Splits arguments into words and flags; `--name` is true, `--name=value` is the value.
 *
 * Throws: UsageError that lists the known flags when one is unknown, so that a typing error never runs something else.
 */
export function parseCommandLine(args, knownFlags) {
  const flags = {}
  const words = []
  for (const arg of args) {
    if (!arg.startsWith('--')) {
      words.push(arg)
      continue
    }
    const [name, value] = arg.slice(2).split(/=(.*)/s)
    if (!knownFlags.includes(name)) {
      throw new UsageError(
        `unknown flag --${name}; known: ${knownFlags.map((flag) => `--${flag}`).join(' ') || 'none'}`,
      )
    }
    flags[name] = value ?? true
  }
  return { flags, words }
}
