import ts from 'typescript'
import { codeBlocks } from './page-sections.ts'
import { entryPoints } from './entry-points.ts'
import { markdownFiles, readText, root, workspacePackages } from './workspace.ts'

/** One piece of TypeScript from a page, complete enough to be compiled alone. */
export interface DocsModule {
  readonly page: string
  readonly line: number
  readonly text: string
}

/**
 * The TypeScript of every page.
 *
 * A block is a module of its own; one marked `continued` goes on where the block before it on its page stopped.
 */
export function docsModules(pages: readonly string[] = markdownFiles()): readonly DocsModule[] {
  return pages.flatMap((page) => {
    const modules: { page: string; line: number; text: string }[] = []
    for (const block of codeBlocks(readText(page))) {
      if (block.language !== 'ts' && block.language !== 'typescript') continue
      const before = modules.at(-1)
      if (block.flags.includes('continued') && before !== undefined) before.text += `\n${block.text}`
      else modules.push({ page, line: block.line, text: block.text })
    }
    return modules
  })
}

// Third-party clients resolve from here: the example depends on all of them.
const home = `${root}/examples/session-projection/src`

// Everything but the documentation is parsed once for all programs.
const parsed = new Map<string, ts.SourceFile>()

/** What the compiler says of pieces of documentation, as one line each. Cost: one program for all of them. */
export function compileDocs(modules: readonly DocsModule[]): readonly string[] {
  const files = new Map(modules.map((module, index) => [`${home}/docs-block-${index}.ts`, module]))
  const options = compilerOptions()
  const host = ts.createCompilerHost(options)
  const { readFile, fileExists, getSourceFile } = host
  const textOf = (name: string): string | undefined => {
    const module = files.get(name)
    // Without an export a block would share one global scope with all others.
    return module === undefined ? undefined : `${module.text}\nexport {}\n`
  }
  host.readFile = (name) => textOf(name) ?? readFile.call(host, name)
  host.fileExists = (name) => files.has(name) || fileExists.call(host, name)
  host.getSourceFile = (name, languageVersion, ...rest) => {
    const text = textOf(name)
    if (text === undefined) {
      const source = parsed.get(name) ?? getSourceFile.call(host, name, languageVersion, ...rest)
      if (source !== undefined) parsed.set(name, source)
      return source
    }
    return ts.createSourceFile(name, text, languageVersion, true)
  }
  const program = ts.createProgram([...files.keys()], options, host)
  return [...files].flatMap(([name, module]) => {
    const source = program.getSourceFile(name)!
    const found = [...program.getSyntacticDiagnostics(source), ...program.getSemanticDiagnostics(source)]
    return found.map((diagnostic) => {
      const line = source.getLineAndCharacterOfPosition(diagnostic.start ?? 0).line
      return `${module.page}:${module.line + 1 + line} ${ts.flattenDiagnosticMessageText(diagnostic.messageText, ' ')}`
    })
  })
}

function compilerOptions(): ts.CompilerOptions {
  const config = ts.readConfigFile(`${root}/tsconfig.json`, (path) => ts.sys.readFile(path))
  const { options } = ts.parseJsonConfigFileContent(config.config, { ...ts.sys, readDirectory: () => [] }, root)
  return { ...options, types: ['node'], paths: sourcePaths(), noEmit: true, incremental: false }
}

/** Every specifier a user can import, and the source that stands behind it. */
export function sourcePaths(): Record<string, string[]> {
  const entries = workspacePackages().flatMap(entryPoints)
  return Object.fromEntries(entries.map(({ specifier, source }) => [specifier, [`${root}/${source}`]]))
}

/** A piece of documentation with its workspace imports led to the sources, so that it can be run from anywhere. */
export function runnable(module: DocsModule): string {
  const paths = sourcePaths()
  return module.text.replaceAll(
    /from '(@tidemark\/[^']+)'/g,
    (_, specifier: string) => `from '${paths[specifier]?.[0] ?? specifier}'`,
  )
}
