/** The longest piece of stored text shown; a damaged value may be of any size. */
export const SHOWN_LENGTH_MAX = 160

/** A stored text on one line, without anything a terminal would obey, cut to a length with the rest counted. */
export function printable(text: string, lengthMax: number = SHOWN_LENGTH_MAX): string {
  const cut = text.length > lengthMax ? `${text.slice(0, lengthMax)}…(+${text.length - lengthMax})` : text
  // C0, DEL, C1, line separators and the marks that turn the direction of text.
  return cut.replaceAll(
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (character) => {
      return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
    },
  )
}

/** A whole number with its thousands apart. */
export function grouped(value: bigint | number | string): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+(?!\d))/g, ',')
}

/** A count with the word that fits it: `1 partition`, `1,024 partitions`. */
export function counted(count: bigint | number | string, one: string, several: string = `${one}s`): string {
  return `${grouped(count)} ${String(count) === '1' ? one : several}`
}
