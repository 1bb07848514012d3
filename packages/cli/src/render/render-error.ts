import type { ErrorReport } from '../reports/report.ts'
import { printable } from './printable.ts'
import type { Style } from './style.ts'

/** An error for people: what, what to do, where it is explained. */
export function renderError({ verdict, error }: ErrorReport, style: Style): readonly string[] {
  const { code, message, remedy, docs } = error
  const head = `${style.bad(style.strong(verdict))}  ${printable(message, 1_000)}`
  return [
    head,
    ...(remedy === undefined ? [] : [`  ${style.faint('remedy')}  ${remedy}`]),
    ...(code === undefined ? [] : [`  ${style.faint('page')}    ${docs}`]),
  ]
}
