import { createHash } from 'node:crypto'
import { utf8Length } from '@tidemark/core'

/** Postgres cannot hold U+0000 in a text; this character stands before what replaces it, and before itself. */
const escape = '\u001a'

/** The longest text an index entry holds whole, in UTF-8 bytes. An index page takes about 2,700 for all columns. */
const INDEXED_BYTES_MAX = 512

/** How many characters of a longer text stay readable in its id. */
const readableLength = 128

/**
 * The stored form of a text: the text itself, unless it holds U+0000 or U+001A.
 *
 * Injective, so that two texts never become one. Promises: PGS-15.
 */
export function toStored(text: string): string {
  return needsEscape.test(text) ? text.replaceAll(escape, `${escape}1`).replaceAll('\u0000', `${escape}0`) : text
}

/** The text that a stored form stands for. */
export function fromStored(stored: string): string {
  return stored.includes(escape) ? stored.replaceAll(`${escape}0`, '\u0000').replaceAll(`${escape}1`, escape) : stored
}

/**
 * What an index holds of a text: its stored form, or for a long one its beginning and a digest of the whole.
 *
 * The mark between the two never stands in a stored form, so no short text has the id of a long one.
 */
export function indexId(text: string): string {
  const stored = toStored(text)
  if (stored.length * 3 <= INDEXED_BYTES_MAX || utf8Length(stored) <= INDEXED_BYTES_MAX) return stored
  const digest = createHash('sha256').update(stored, 'utf8').digest('hex')
  return `${wholeCharacters(stored.slice(0, readableLength))}${escape}#${digest}`
}

/** Whether an id stands for a text too long to be indexed whole. */
export function isDigestId(id: string): boolean {
  return id.includes(`${escape}#`)
}

/** The text form of an array of texts, for a parameter cast to `text[]`. */
export function textArray(items: Iterable<string | undefined>): string {
  let text = '{'
  for (const item of items) {
    if (text.length > 1) text += ','
    text += item === undefined ? 'NULL' : quoted(item)
  }
  return `${text}}`
}

// eslint-disable-next-line no-control-regex -- the two characters are the point
const needsEscape = /[\u0000\u001a]/

function quoted(item: string): string {
  return /["\\]/.test(item) ? `"${item.replaceAll(/["\\]/g, '\\$&')}"` : `"${item}"`
}

/** Cutting may leave half of a surrogate pair or of an escape, which are no text. */
function wholeCharacters(text: string): string {
  return text.replace(/[\ud800-\udbff]$/, '').replace(/\u001a$/, '')
}
