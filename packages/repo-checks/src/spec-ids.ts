import ts from 'typescript'

/** Ids of promises, gates and cases look like `CKP-4`, `A13` or `CK-07`. */
const idPattern = /^[A-Z][A-Z0-9]*(?:-\d+|\d+)$/

/**
 * The promises a SPEC.md defines: ids that open a heading, a list item or a table row.
 *
 * An id elsewhere in a line is a mention and defines nothing.
 */
export function definedIds(specText: string): readonly string[] {
  const opening = /^\s*(?:#{1,6}\s+|[-*]\s+|\|\s*)?(?:\*\*|`)?([A-Z]{2,5}-\d+)\b/
  return specText.split('\n').flatMap((line) => {
    const id = opening.exec(line)?.[1]
    return id === undefined ? [] : [id]
  })
}

/** The ids in the titles of a test file: what stands in brackets in the first argument of it, test and describe. */
export function titleIds(testText: string): readonly string[] {
  const source = ts.createSourceFile('titles.ts', testText, ts.ScriptTarget.ES2023, true, ts.ScriptKind.TS)
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (ts.isCallExpression(node) && /^(?:it|test|describe)$/.test(rootName(node.expression))) {
      found.push(...idsIn(literalText(node.arguments[0])))
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

/** The name at the far left: `it` of `it.each(rows)`. */
function rootName(node: ts.Expression): string {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return rootName(node.expression)
  return ts.isTaggedTemplateExpression(node) ? rootName(node.tag) : ''
}

/** What a title says as written; values filled into a template are left out. */
function literalText(node: ts.Expression | undefined): string {
  if (node === undefined) return ''
  if (ts.isStringLiteralLike(node)) return node.text
  if (ts.isTemplateExpression(node))
    return [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)].join(' ')
  if (ts.isBinaryExpression(node)) return literalText(node.left) + literalText(node.right)
  return ''
}

/** The ids in the brackets of a text; `CKP-3 to CKP-5` stands for all three. */
export function idsIn(title: string): readonly string[] {
  return [...title.matchAll(/\[([^\]]+)\]/g)].flatMap(([, inside]) => idsOfList(inside ?? '')).filter(isId)
}

/** The ids that docstrings promise to keep: everything after `Promises:` that is an id. */
export function promisedIds(sourceText: string): readonly string[] {
  return [...sourceText.matchAll(/Promises: ([^\n]*)/g)].flatMap(([, list]) => idsOfList(list ?? '')).filter(isId)
}

function isId(word: string): boolean {
  return idPattern.test(word)
}

function idsOfList(text: string): readonly string[] {
  const spread = text.replaceAll(/([A-Z]+)-(\d+) to \1-(\d+)/g, (_, area: string, from: string, to: string) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_unused, index) => `${area}-${Number(from) + index}`).join(
      ' ',
    ),
  )
  return spread.split(/[\s,.;*/]+/)
}
