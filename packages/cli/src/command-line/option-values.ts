import { InvalidArgumentError } from 'commander'

/** A reader of whole numbers within a range, for commander. */
export function wholeNumberOption(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`It must be a whole number from ${min} to ${max}.`)
  }
}

/** A text that says something; an empty one is a shell variable that was not set. */
export function textOption(text: string): string {
  if (text !== '') return text
  throw new InvalidArgumentError('It is empty.')
}

/** A text of an option that may stand once; of two places the last would be taken in silence. */
export function onceOption(text: string, earlier: string | undefined): string {
  if (earlier === undefined) return textOption(text)
  throw new InvalidArgumentError('It is given twice.')
}
