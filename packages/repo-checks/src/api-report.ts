import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { CompilerState, Extractor, ExtractorConfig } from '@microsoft/api-extractor'
import type { IConfigFile } from '@microsoft/api-extractor'
import { entryPoints } from './entry-points.ts'
import { root } from './workspace.ts'
import type { WorkspacePackage } from './workspace.ts'

/** What one entry point offers, as a page to review. */
export interface ApiReport {
  /** What a user imports, for example `@tidemark/redis/checkpoint`. */
  readonly specifier: string
  /** Where the page is kept, relative to the root, for example `packages/redis/api/checkpoint.api.md`. */
  readonly file: string
  readonly text: string
  /** Names that the entry exports. */
  readonly exported: ReadonlySet<string>
  /** Types that a signature names and this entry does not export. */
  readonly unreachable: readonly string[]
  /** Exported names without a docstring. */
  readonly undocumented: readonly string[]
  /** Everything else that went wrong. */
  readonly faults: readonly string[]
}

/** Where the report of an entry point is kept: `index` for `.`, else its subpath with dashes. */
function reportFile(pack: WorkspacePackage, specifier: string): string {
  const subpath = specifier.slice(pack.manifest.name.length + 1)
  return `${pack.folder}/api/${subpath === '' ? 'index' : subpath.replaceAll('/', '-')}.api.md`
}

/**
 * The reports of every entry point of the packages, from the declarations in dist.
 *
 * Cost: one compiler program for all of them, about ten seconds.
 * Throws: Error that names the declarations that were not built.
 */
export function apiReports(packages: readonly WorkspacePackage[], base: string = root): readonly ApiReport[] {
  const entries = packages.flatMap((pack) => entryPoints(pack).map((entry) => ({ pack, ...entry })))
  const unbuilt = entries.filter(({ types }) => !existsSync(join(base, types))).map(({ types }) => types)
  if (unbuilt.length > 0) throw new Error(`not built: ${unbuilt.join(', ')}; run \`npm run build\` first`)
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-api-'))
  try {
    const jobs = entries.map(({ pack, specifier, types }) => {
      const file = reportFile(pack, specifier)
      return {
        specifier,
        file,
        config: extractorConfig(join(base, pack.folder), join(base, types), join(folder, file)),
      }
    })
    const [first, ...others] = jobs
    if (first === undefined) return []
    const additionalEntryPoints = others.map(({ config }) => config.mainEntryPointFilePath)
    const compilerState = CompilerState.create(first.config, { additionalEntryPoints })
    return jobs.map(({ specifier, file, config }) => ({ specifier, file, ...extract(config, compilerState) }))
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function extract(config: ExtractorConfig, compilerState: CompilerState): Omit<ApiReport, 'specifier' | 'file'> {
  const unreachable: string[] = []
  const faults: string[] = []
  Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback(message) {
      const forgotten = message.messageId === 'ae-forgotten-export' ? /"([^"]+)"/.exec(message.text)?.[1] : undefined
      if (forgotten !== undefined) unreachable.push(forgotten)
      else if (loud.has(message.logLevel) && message.category !== 'console' && !isForeign(message.sourceFilePath)) {
        faults.push(`${message.messageId}: ${message.text}`)
      }
      message.handled = true
    },
  })
  const text = readFileSync(config.reportFilePath, 'utf8')
  return { text, ...exportedNames(text), unreachable, faults }
}

/** A client's own declarations may want a browser's types; what they lack is no fault of an entry that names the client. */
function isForeign(file: string | undefined): boolean {
  return file !== undefined && /[/]node_modules[/](?!@tidemark[/])/.test(file)
}

/** What a report exports, and what of it has no docstring on any of its declarations; an overload needs none of its own. */
function exportedNames(text: string): Pick<ApiReport, 'exported' | 'undocumented'> {
  const lines = text.split('\n')
  const declarations = lines.flatMap((line, at) => {
    const name = /^export (?:abstract )?(?:const|function|class|interface|type|let) (\w+)/.exec(line)?.[1]
    return name === undefined ? [] : [{ name, documented: !/^\/\/ @.*\(undocumented\)/.test(lines[at - 1] ?? '') }]
  })
  const documented = new Set(declarations.filter((each) => each.documented).map(({ name }) => name))
  const exported = new Set(declarations.map(({ name }) => name))
  return { exported, undocumented: [...exported].filter((name) => !documented.has(name)) }
}

const loud: ReadonlySet<string> = new Set(['error', 'warning'])
const heard = { logLevel: 'warning', addToApiReportFile: false }
const shown = { logLevel: 'none', addToApiReportFile: true }
const quiet = { logLevel: 'none', addToApiReportFile: false }

function extractorConfig(projectFolder: string, types: string, report: string): ExtractorConfig {
  const reportFolder = join(report, '..')
  mkdirSync(reportFolder, { recursive: true })
  // The declarations in dist, as a user's compiler reads them: without the source condition.
  const compilerOptions = {
    target: 'ES2023',
    lib: ['ES2023', 'ESNext.Disposable'],
    module: 'NodeNext',
    moduleResolution: 'NodeNext',
    types: ['node'],
    typeRoots: [join(root, 'node_modules/@types')],
    strict: true,
    skipLibCheck: false,
  }
  const configObject = {
    projectFolder,
    mainEntryPointFilePath: types,
    compiler: { overrideTsconfig: { compilerOptions, files: [types] } },
    apiReport: {
      enabled: true,
      reportFileName: report.slice(reportFolder.length + 1),
      reportFolder,
      reportTempFolder: join(reportFolder, 'temp'),
      // The catalogues' types are not exported, and their error codes are a promise to users.
      includeForgottenExports: true,
    },
    docModel: { enabled: false },
    dtsRollup: { enabled: false },
    tsdocMetadata: { enabled: false },
    newlineKind: 'lf',
    messages: {
      compilerMessageReporting: { default: heard },
      extractorMessageReporting: {
        default: heard,
        // Whatever an entry exports is public, so that no name needs a tag.
        'ae-missing-release-tag': quiet,
        // The report marks such a name by itself, without a line number that every edit moves.
        'ae-undocumented': quiet,
        'ae-unresolved-link': shown,
      },
      // The house's docstrings are not TSDoc: they name shapes, units and promises.
      tsdocMessageReporting: { default: quiet },
    },
  }
  return ExtractorConfig.prepare({
    configObject: configObject as unknown as IConfigFile,
    configObjectFullPath: undefined,
    packageJsonFullPath: join(projectFolder, 'package.json'),
  })
}
