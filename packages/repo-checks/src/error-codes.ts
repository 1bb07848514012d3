import { root, sourceFiles } from './workspace.ts'

/** A table of codes in the source and the page that must explain each of them. */
export interface CodeTable {
  /** The source file that declares it. */
  readonly file: string
  readonly page: string
  readonly codes: readonly string[]
  readonly remedyOf: (code: string) => string
}

interface Catalogue {
  readonly area: string
  readonly codes: readonly string[]
  docsPath(code: string): string
  remedy(code: string): string
}

/** Every table of codes in the workspace, read from the modules themselves: catalogues, refusals, dirty reasons. */
export async function codeTables(): Promise<readonly CodeTable[]> {
  const files = sourceFiles().filter((file) => /^packages\/.*\/errors\.ts$/.test(file))
  const catalogues = await Promise.all(files.map(catalogueTables))
  const refusals = await namedTable('packages/checkpoint/src/refusal.ts', 'refusalCatalogue', 'docs/errors/refusals.md')
  const dirty = await namedTable(
    'packages/checkpoint/src/runtime/dirty-reason.ts',
    'dirtyCatalogue',
    'docs/errors/dirty.md',
  )
  return [...catalogues.flat(), refusals, dirty]
}

async function load(file: string): Promise<Readonly<Record<string, unknown>>> {
  return (await import(`${root}/${file}`)) as Readonly<Record<string, unknown>>
}

async function catalogueTables(file: string): Promise<readonly CodeTable[]> {
  return Object.values(await load(file))
    .filter(isCatalogue)
    .map((catalogue) => ({
      file,
      page: `docs/errors/${catalogue.area.toLowerCase()}.md`,
      codes: catalogue.codes,
      remedyOf: (code) => catalogue.remedy(code),
    }))
}

async function namedTable(file: string, name: string, page: string): Promise<CodeTable> {
  const table = (await load(file))[name] as Readonly<Record<string, string>>
  return { file, page, codes: Object.keys(table), remedyOf: (code) => table[code]! }
}

function isCatalogue(value: unknown): value is Catalogue {
  return typeof value === 'object' && value !== null && 'codes' in value && 'docsPath' in value && 'area' in value
}
