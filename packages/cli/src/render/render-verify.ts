import type { KeyDifference, PartDifference, VerifyReport } from '../reports/verify-report.ts'
import { counted, grouped } from './printable.ts'
import { omitted } from './render-reasons.ts'
import type { Style } from './style.ts'
import { textPairs } from './text-table.ts'

/** A verification for people. */
export function renderVerify(report: VerifyReport, style: Style): readonly string[] {
  const { namespace, topic, recordsRead, undecodable, keysCompared, differences } = report
  const what = `${namespace} from ${topic}`
  const head =
    report.verdict === 'equal'
      ? `${style.good(style.strong('equal'))}  ${what}`
      : `${style.bad(style.strong('different'))}  ${what}: ${counted(differences.total, 'difference')}`
  const aside = undecodable === 0 ? '' : `, ${grouped(undecodable)} of them undecodable`
  const facts = [
    ['store', report.store],
    ['log', report.log],
    ['compared', `${counted(keysCompared, 'key')} with ${counted(recordsRead, 'record')}${aside}`],
  ] as const
  return [
    head,
    '',
    ...textPairs(facts, style),
    ...differences.items.flatMap((difference) => renderDifference(difference, style)),
    ...omitted(differences, 'difference', style),
  ]
}

function renderDifference({ key, against, expected, found, parts }: KeyDifference, style: Style): readonly string[] {
  const by = against === 'log' ? 'the log says' : 'the canonical reader says'
  const kinds = expected === found ? '' : `: served is ${found}, due is ${expected}`
  const more = parts.total - parts.items.length
  return [
    '',
    `${style.strong(key)}${kinds}`,
    ...parts.items.map((part) => `  ${partText(part, by)}`),
    ...(more > 0 ? [style.faint(`  … and ${grouped(more)} more`)] : []),
  ]
}

function partText({ part, expected, found }: PartDifference, by: string): string {
  const name = part === '' ? '' : `${part}: `
  if (found === undefined) return `${name}missing, ${by} ${expected}`
  if (expected === undefined) return `${name}${found} is served, ${by} nothing`
  return `${name}${found} is served, ${by} ${expected}`
}
