import { UsageError } from './usage-error.mjs'

/**
 * Splits arguments into words and flags; `--name` is true, `--name=value` is the value, `-h` is `--help`.
 *
 * Throws: UsageError that lists the known flags when one is unknown, or names a word too many: a typing error never
 * runs something else.
 */
export function parseCommandLine(args, knownFlags, wordsMax = Number.POSITIVE_INFINITY) {
  const flags = {}
  const words = []
  for (const given of args) {
    const arg = given === '-h' ? '--help' : given
    if (!arg.startsWith('-')) {
      words.push(arg)
      continue
    }
    const [name, value] = arg.replace(/^--/, '').split(/=(.*)/s)
    if (!knownFlags.includes(name)) {
      const known = knownFlags.map((flag) => `--${flag}`).join(' ')
      throw new UsageError(`unknown flag ${arg.split('=')[0]}; known: ${known || 'none'}`)
    }
    flags[name] = value ?? true
  }
  if (words.length > wordsMax) {
    const most = wordsMax === 0 ? 'no word' : wordsMax === 1 ? 'one word' : `${wordsMax} words`
    throw new UsageError(`unexpected ${words.slice(wordsMax).join(' ')}; it takes ${most}, --help tells what`)
  }
  return { flags, words }
}
