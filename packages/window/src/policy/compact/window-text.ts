import { readDuration, renderDuration } from '../duration.ts'
import type { WindowShape } from '../stream-time-policy.ts'

/** What a window text says: a shape, and the zone it names, or why it is none. */
export type WindowTextReading =
  | { readonly kind: 'window'; readonly window: WindowShape; readonly zone: string | undefined }
  | { readonly kind: 'refused'; readonly reason: string }

/** The forms that are read; the examples stand in the message of a refusal. */
const forms =
  'tumbling:1h:UTC, tumbling:1h+15m:UTC, sliding:1h/5m:UTC, sliding:1h/5m+1m:UTC, session:30m or civil:day:Europe/Berlin'

/**
 * The window of a compact text.
 *
 * Tiles of a fixed size are counted from the epoch, in UTC, and the text says so: a size that followed the clocks of another
 * zone would be a civil window, and those are days, weeks and months.
 *
 * Promises: WIN-4.
 */
export function readWindowText(text: string): WindowTextReading {
  const [kind = '', body = '', ...rest] = text.split(':')
  const zone = rest.length === 0 ? undefined : rest.join(':')
  switch (kind) {
    case 'tumbling':
    case 'sliding':
      return tiled(kind, body, zone)
    case 'session':
      return zone === undefined
        ? session(body)
        : refused('names a zone, which sessions do not have; say it as the timezone')
    case 'civil':
      return civil(body, zone)
    default:
      return refused(`is not a window: ${forms}`)
  }
}

function tiled(kind: 'tumbling' | 'sliding', body: string, zone: string | undefined): WindowTextReading {
  const pattern = kind === 'tumbling' ? /^([^/+]+)()(?:\+(.+))?$/ : /^([^/+]+)\/([^/+]+)(?:\+(.+))?$/
  const [matched, sizeText = '', slideText = '', offsetText] = pattern.exec(body) ?? []
  if (matched === undefined) return refused(`is not a window: ${forms}`)
  if (zone === undefined) return refused(`does not say where its tiles begin; in UTC it is ${kind}:${body}:UTC`)
  if (zone !== 'UTC') {
    return refused(
      `counts tiles of a fixed size in ${zone}; they are counted in UTC, and days of a zone are civil:day:${zone}`,
    )
  }
  const size = length(sizeText, 'size')
  const slide = kind === 'sliding' ? length(slideText, 'slide') : size
  // An offset of nothing is the one that is not written, so that equal windows have one text.
  const offset = offsetText === undefined ? 0 : length(offsetText, 'offset')
  if (typeof size === 'string') return refused(size)
  if (typeof slide === 'string') return refused(slide)
  if (typeof offset === 'string') return refused(offset)
  if (kind === 'tumbling') return { kind: 'window', zone, window: { kind, sizeMs: size, offsetMs: offset } }
  return { kind: 'window', zone, window: { kind, sizeMs: size, slideMs: slide, offsetMs: offset } }
}

function session(body: string): WindowTextReading {
  const gapMs = length(body, 'gap')
  if (typeof gapMs === 'string') return refused(gapMs)
  return { kind: 'window', zone: undefined, window: { kind: 'session', gapMs } }
}

function civil(unit: string, zone: string | undefined): WindowTextReading {
  if (unit !== 'day' && unit !== 'week' && unit !== 'month') {
    return refused(
      'is not a civil window: civil:day, civil:week or civil:month and a zone, such as civil:day:Europe/Berlin',
    )
  }
  if (zone === undefined || zone === '') return refused(`does not say its zone, such as civil:${unit}:Europe/Berlin`)
  return { kind: 'window', zone, window: { kind: 'civil', unit, zone } }
}

/** A length above nothing, or why it is none. */
function length(text: string, what: string): number | string {
  const read = readDuration(text)
  if (read.kind === 'refused') return `has the ${what} ${JSON.stringify(text)}, which ${read.reason}`
  return read.ms > 0 ? read.ms : `has the ${what} ${JSON.stringify(text)}, which is nothing`
}

function refused(reason: string): WindowTextReading {
  return { kind: 'refused', reason }
}

/** The text of a window; {@link readWindowText} reads it back as the same. */
export function renderWindowText(window: WindowShape): string {
  switch (window.kind) {
    case 'tumbling':
      return `tumbling:${renderDuration(window.sizeMs)}${offsetText(window.offsetMs)}:UTC`
    case 'sliding':
      return `sliding:${renderDuration(window.sizeMs)}/${renderDuration(window.slideMs)}${offsetText(window.offsetMs)}:UTC`
    case 'session':
      return `session:${renderDuration(window.gapMs)}`
    case 'civil':
      return `civil:${window.unit}:${window.zone}`
  }
}

function offsetText(offsetMs: number): string {
  return offsetMs === 0 ? '' : `+${renderDuration(offsetMs)}`
}
