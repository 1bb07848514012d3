import { narrowed } from './exact-value.ts'
import type { ExactValue } from './exact-value.ts'

/** The most digits after the point that a decimal is declared with. */
export const DECIMAL_SCALE_MAX = 100

/** The longest decimal text that is read; what is longer is no amount of anything. */
const TEXT_LENGTH_MAX = 1000

/** Up to so many digits a number holds every integer. */
const EXACT_DIGITS = 15

/**
 * A decimal text in units of its last place: `12.3` at scale 2 is 1230.
 *
 * Shape: an optional minus, digits without a needless zero in front, and at most `scale` digits after a point: `0`, `-0.5`,
 * `12.30`. No plus, exponent, blank or bare point. A safe integer, else a bigint; undefined for any other text, so that nothing
 * is ever rounded.
 */
export function parseDecimal(text: string, scale: number): ExactValue | undefined {
  const end = text.length
  if (end > TEXT_LENGTH_MAX) return undefined
  const first = text.charCodeAt(0) === MINUS ? 1 : 0
  let at = first
  let units = 0
  while (at < end && isDigit(text.charCodeAt(at))) {
    units = units * 10 + (text.charCodeAt(at) - ZERO)
    at += 1
  }
  const whole = at - first
  if (whole === 0 || (whole > 1 && text.charCodeAt(first) === ZERO)) return undefined
  let places = 0
  if (at < end) {
    if (text.charCodeAt(at) !== POINT) return undefined
    at += 1
    for (; at < end && isDigit(text.charCodeAt(at)); at += 1) {
      units = units * 10 + (text.charCodeAt(at) - ZERO)
      places += 1
    }
    if (at < end || places === 0 || places > scale) return undefined
  }
  if (whole + scale > EXACT_DIGITS) return parseLong(text, first, whole, places, scale)
  for (; places < scale; places += 1) units *= 10
  // Not -0, which would be another key of a map than 0 nowhere, but another text.
  return first === 1 && units !== 0 ? -units : units
}

function parseLong(text: string, first: number, whole: number, places: number, scale: number): ExactValue {
  const digits = text.slice(first, first + whole) + text.slice(first + whole + 1)
  return narrowed(BigInt((first === 1 ? '-' : '') + digits + '0'.repeat(scale - places)))
}

/** The one text of a decimal: all its places, a digit before the point, no minus before zero. */
export function formatDecimal(units: ExactValue, scale: number): string {
  const text = String(units === 0 ? 0 : units)
  if (scale === 0) return text
  const minus = text.startsWith('-') ? '-' : ''
  const digits = text.slice(minus.length).padStart(scale + 1, '0')
  return `${minus}${digits.slice(0, -scale)}.${digits.slice(-scale)}`
}

const ZERO = 48
const MINUS = 45
const POINT = 46

function isDigit(code: number): boolean {
  return code >= ZERO && code <= 57
}
