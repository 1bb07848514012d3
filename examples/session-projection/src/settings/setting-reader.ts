import { parseArgs } from 'node:util'

/** One setting: a flag, an environment variable, or both; the flag wins. */
export interface SettingSpec {
  /** Without dashes. Absent for secrets, which would show in the process list. */
  readonly flag?: string
  readonly env: string
  /** For the usage text. */
  readonly help: string
  /** True for values that no message may repeat. */
  readonly secret?: boolean
}

/** Settings as read, or everything that is wrong with them at once, or a request for the usage text. */
export type SettingsReading<T> =
  | { readonly kind: 'settings'; readonly settings: T }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] }
  | { readonly kind: 'help'; readonly text: string }

/** Reads single settings and collects what is wrong with them. A problem yields a value of no use, never a guess. */
export interface SettingReader {
  text(name: string, otherwise?: string): string
  optionalText(name: string): string | undefined
  choice<C extends string>(name: string, choices: readonly C[], otherwise?: C): C
  whole(name: string, range: { readonly min: number; readonly max: number }, otherwise?: number): number
  problem(text: string): void
}

/**
 * Reads a program's settings from its arguments and environment.
 *
 * An empty environment variable counts as unset, an empty flag as wrong.
 */
export function readSettings<T>(
  program: string,
  specs: Readonly<Record<string, SettingSpec>>,
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  build: (read: SettingReader) => T,
): SettingsReading<T> {
  const flags = parseFlags(specs, argv)
  if (flags.kind === 'wrong') return flags
  if (flags.help) return { kind: 'help', text: usage(program, specs) }
  const reader = newReader(specs, flags.values, env)
  const settings = build(reader)
  // Settings that several parts read report the same problem more than once.
  const problems = [...new Set(reader.problems)]
  return problems.length > 0 ? { kind: 'wrong', problems } : { kind: 'settings', settings }
}

type Flags =
  | { readonly kind: 'flags'; readonly help: boolean; readonly values: Readonly<Record<string, unknown>> }
  | { readonly kind: 'wrong'; readonly problems: readonly string[] }

function parseFlags(specs: Readonly<Record<string, SettingSpec>>, argv: readonly string[]): Flags {
  const names = Object.values(specs).flatMap(({ flag }) => flag ?? [])
  const options = Object.fromEntries(names.map((name) => [name, { type: 'string' as const }]))
  try {
    const { values } = parseArgs({ args: [...argv], options: { ...options, help: { type: 'boolean' } }, strict: true })
    return { kind: 'flags', help: values['help'] === true, values }
  } catch (error) {
    const message = error instanceof Error ? error.message.split('\n')[0]! : String(error)
    return { kind: 'wrong', problems: [message.replace(/\. To specify .*$/, '')] }
  }
}

function newReader(
  specs: Readonly<Record<string, SettingSpec>>,
  flags: Readonly<Record<string, unknown>>,
  env: Readonly<Record<string, string | undefined>>,
): SettingReader & { readonly problems: string[] } {
  const problems: string[] = []
  const specOf = (name: string): SettingSpec => {
    const spec = specs[name]
    if (spec === undefined) throw new TypeError(`setting ${name} is not declared`)
    return spec
  }
  const find = (name: string): string | undefined => {
    const spec = specOf(name)
    const flag = spec.flag === undefined ? undefined : flags[spec.flag]
    if (typeof flag === 'string') {
      if (flag === '') problems.push(`--${spec.flag} is empty`)
      return flag
    }
    const variable = env[spec.env]
    return variable === '' ? undefined : variable
  }
  const missing = (name: string): void => void problems.push(`${spell(specOf(name))} is not given`)
  const wrong = (name: string, value: string, due: string): void => {
    const spec = specOf(name)
    problems.push(`${spell(spec)} is ${spec.secret === true ? 'not' : `"${value.slice(0, 64)}", not`} ${due}`)
  }
  return {
    problems,
    problem: (text) => void problems.push(text),
    optionalText: find,
    text(name, otherwise) {
      const value = find(name) ?? otherwise
      if (value === undefined) missing(name)
      return value ?? ''
    },
    choice(name, choices, otherwise) {
      const value = find(name) ?? otherwise
      const chosen = choices.find((choice) => choice === value)
      if (value === undefined) problems.push(`${spell(specOf(name))} is not given; choose ${choices.join(' or ')}`)
      else if (chosen === undefined) wrong(name, value, choices.join(' or '))
      return chosen ?? choices[0]!
    },
    whole(name, { min, max }, otherwise) {
      const value = find(name)
      if (value === undefined) {
        if (otherwise === undefined) missing(name)
        return otherwise ?? min
      }
      const number = /^(?:0|[1-9][0-9]{0,15})$/.test(value) ? Number(value) : Number.NaN
      if (number >= min && number <= max) return number
      wrong(name, value, `a whole number from ${min} to ${max}`)
      return min
    },
  }
}

function spell(spec: SettingSpec): string {
  return spec.flag === undefined ? spec.env : `--${spec.flag} (or ${spec.env})`
}

function usage(program: string, specs: Readonly<Record<string, SettingSpec>>): string {
  const lines = Object.values(specs).map((spec) => {
    const flag = spec.flag === undefined ? '(environment only)' : `--${spec.flag}`
    return `  ${flag.padEnd(24)} ${spec.env.padEnd(26)} ${spec.help}`
  })
  return [`usage: ${program} [flags]; every flag can be given by its environment variable`, ...lines].join('\n')
}
