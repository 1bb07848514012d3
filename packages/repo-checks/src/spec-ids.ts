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
  const calls = testText.matchAll(
    /\b(?:it|test|describe)(?:\.\w+)*(?:\([^()'"`]*(?:\([^()]*\)[^()'"`]*)*\))?\(\s*(['"`])((?:(?!\1)[^\\]|\\.)*)\1/g,
  )
  return [...calls].flatMap(([, , title]) => idsIn(title ?? ''))
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
