/** A fenced block of code. */
export interface CodeBlock {
  readonly language: string
  /** Words after the language, for example `continued`. */
  readonly flags: readonly string[]
  readonly line: number
  readonly text: string
}

/** A heading with the text beneath it, up to the next heading of the same or a higher level. */
export interface Section {
  readonly level: number
  readonly title: string
  readonly line: number
  readonly body: string
}

/** A link to something in this repository, or an anchor of the same page. */
export interface RelativeLink {
  readonly target: string
  readonly line: number
}

/** Every fenced block of a page. */
export function codeBlocks(page: string): readonly CodeBlock[] {
  const blocks: CodeBlock[] = []
  const lines = page.split('\n')
  for (let index = 0; index < lines.length; index += 1) {
    const opening = /^(\s*)```(\S*)\s*(.*)$/.exec(lines[index]!)
    if (opening === null) continue
    const start = index
    const body: string[] = []
    for (index += 1; index < lines.length && !/^\s*```\s*$/.test(lines[index]!); index += 1) body.push(lines[index]!)
    const flags = opening[3]!.split(/\s+/).filter((flag) => flag !== '')
    blocks.push({ language: opening[2]!, flags, line: start + 1, text: body.join('\n') })
  }
  return blocks
}

/** The page with code blanked out, line by line, so that nothing in code looks like prose. */
export function withoutCode(page: string): string {
  let inside = false
  const lines = page.split('\n').map((line) => {
    const fence = /^\s*```/.test(line)
    if (fence) inside = !inside
    return fence || inside ? '' : line.replaceAll(/`[^`]*`/g, (code) => ' '.repeat(code.length))
  })
  return lines.join('\n')
}

/** Every section of a page, nested ones included. */
export function sections(page: string): readonly Section[] {
  const lines = page.split('\n')
  const blanked = withoutFences(page).split('\n')
  const headings = blanked.flatMap((line, index) => {
    const match = /^(#{1,6})\s+(.*?)\s*$/.exec(line)
    return match === null ? [] : [{ level: match[1]!.length, title: match[2]!.replaceAll('`', ''), index }]
  })
  return headings.map(({ level, title, index }, at) => {
    const next = headings.slice(at + 1).find((heading) => heading.level <= level)
    return { level, title, line: index + 1, body: lines.slice(index + 1, next?.index).join('\n') }
  })
}

function withoutFences(page: string): string {
  let inside = false
  const lines = page.split('\n').map((line) => {
    const fence = /^\s*```/.test(line)
    if (fence) inside = !inside
    return fence || inside ? '' : line
  })
  return lines.join('\n')
}

/** The anchor that hosts give a heading. */
export function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

/** Links and images that lead to files or anchors here; web addresses and mail are left out. */
export function relativeLinks(page: string): readonly RelativeLink[] {
  return withoutCode(page)
    .split('\n')
    .flatMap((line, index) => {
      const inline = [...line.matchAll(/\]\(\s*<?([^)\s>]+)>?[^)]*\)/g)].map((match) => match[1]!)
      const reference = /^\[[^\]]+\]:\s+(\S+)/.exec(line)?.[1]
      const targets = reference === undefined ? inline : [...inline, reference]
      return targets
        .filter((target) => !/^[a-z][a-z0-9+.-]*:/i.test(target))
        .map((target) => ({ target, line: index + 1 }))
    })
}
