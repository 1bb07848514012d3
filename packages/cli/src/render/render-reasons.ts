import type { BoundedList } from '../reports/bounded-list.ts'
import type { ReasonLine } from '../reports/report.ts'
import { grouped } from './printable.ts'
import type { Style } from './style.ts'

/** How many partitions of one code are told each in a line of its own. */
const sitesPerCode = 8

/** Reasons by code: every message, then the remedy and the page once. */
export function renderReasons(reasons: BoundedList<ReasonLine>, style: Style): readonly string[] {
  const byCode = new Map<string, ReasonLine[]>()
  for (const reason of reasons.items) byCode.set(reason.code, [...(byCode.get(reason.code) ?? []), reason])
  const blocks = [...byCode].flatMap(([code, sites]) => {
    const shown = sites.slice(0, sitesPerCode).map(({ partition, message }) => {
      const where = partition === undefined ? '' : `${style.faint(`partition ${partition}:`)} `
      return `  ${where}${message}`
    })
    const more = sites.length - shown.length
    const rest =
      more > 0 ? [`  and ${grouped(more)} more ${more === 1 ? 'partition' : 'partitions'} (--json lists each)`] : []
    const { remedy, runbook } = sites[0]!
    const advice = [`  ${style.faint('remedy')}  ${remedy}`, `  ${style.faint('page')}    ${runbook}`]
    return ['', style.bad(style.strong(code)), ...shown, ...rest, ...advice]
  })
  return [...blocks, ...omitted(reasons, 'reason', style)]
}

/** A line that says how much a limit left out; none where nothing was. */
export function omitted(list: BoundedList<unknown>, one: string, style: Style): readonly string[] {
  const more = list.total - list.items.length
  return more > 0
    ? [style.faint(`… ${grouped(more)} more ${more === 1 ? one : `${one}s`}; --limit ${list.total} shows all`)]
    : []
}
