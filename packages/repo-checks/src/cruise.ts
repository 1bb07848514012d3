import { createRequire } from 'node:module'
import { cruise } from 'dependency-cruiser'
import type { ICruiseResult } from 'dependency-cruiser'
import { root } from './workspace.ts'

/** The design as data, beside the rules made of it. */
export interface Architecture {
  /** Packages of the workspace that the source of a package may import. */
  readonly directions: Readonly<Record<string, readonly string[]>>
  readonly pure: readonly string[]
  /** What a pure package may take from a registry, by package. */
  readonly pureLibraries: Readonly<Record<string, readonly string[]>>
  readonly testkitUsers: readonly string[]
  /** Third-party clients and the packages that own them. */
  readonly clients: Readonly<Record<string, readonly string[]>>
  readonly clientTesters: readonly string[]
  /** Packages that hand clients on as optional peers, without knowing them. */
  readonly clientPassers: readonly string[]
}

interface RuleFile {
  readonly architecture: Architecture
  readonly forbidden: readonly unknown[]
  readonly options: Readonly<Record<string, unknown>>
}

const rules = createRequire(import.meta.url)(`${root}/.dependency-cruiser.cjs`) as RuleFile

/** Who may import whom. */
export const architecture: Architecture = rules.architecture

/** A broken rule: which, from where, to where. */
export interface Violation {
  readonly rule: string
  readonly from: string
  readonly to: string
}

/** What a run of the rules found. */
export interface CruiseReport {
  readonly modules: number
  readonly violations: readonly Violation[]
}

/** Runs the rules over folders of a base folder; the repository unless said. Cost: a few seconds. */
export async function runRules(folders: readonly string[], baseDir: string = root): Promise<CruiseReport> {
  // The tsconfig in the rule file is for the command line; here the conditions above it already find the sources.
  const { tsConfig, ...options } = rules.options
  void tsConfig
  const result = await cruise([...folders], {
    ...options,
    baseDir,
    validate: true,
    ruleSet: { forbidden: rules.forbidden as never },
  })
  const { summary } = result.output as ICruiseResult
  const violations = summary.violations.map(({ rule, from, to }) => ({ rule: rule.name, from, to }))
  return { modules: summary.totalCruised, violations }
}
