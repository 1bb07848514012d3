import type { RebuildReport } from '../reports/rebuild-report.ts'
import { counted, grouped } from './printable.ts'
import { renderLeftOpen } from './render-explain.ts'
import { omitted, renderReasons } from './render-reasons.ts'
import type { Style } from './style.ts'
import { textPairs } from './text-table.ts'

/** A rebuild for people. */
export function renderRebuild(report: RebuildReport, style: Style): readonly string[] {
  const { problems, refusals, leftOpen, dirty } = report
  return [
    headline(report, style),
    '',
    ...textPairs(facts(report), style),
    ...problems.items.flatMap(({ code, message }) => ['', style.bad(style.strong(code)), `  ${message}`]),
    ...omitted(problems, 'problem', style),
    ...renderReasons(refusals, style),
    ...(dirty === undefined ? [] : renderReasons({ total: 1, items: [dirty] }, style)),
    ...renderLeftOpen(leftOpen, style),
    ...advice(report),
  ]
}

function headline({ verdict, from, into }: RebuildReport, style: Style): string {
  const what = `${into}, beside ${from}`
  if (verdict === 'rebuilt') return `${style.good(style.strong('rebuilt'))}  ${what}`
  if (verdict === 'would-start') return `${style.good(style.strong('would rebuild'))}  ${what}`
  return `${style.bad(style.strong(verdict))}  ${what}`
}

function facts(report: RebuildReport): readonly (readonly [string, string])[] {
  const { plan, applied, data, from } = report
  const shared = `shared with ${from}: its fences are claimed first, so that its writer stops`
  const pairs: [string, string][] = [
    ['store', report.store],
    ['log', report.log],
    ['topic', report.topic],
    ['data', data === 'shared' ? shared : 'under a prefix of its own'],
  ]
  if (plan !== undefined) {
    pairs.push(['to read', `${counted(plan.toRead, 'offset')} of ${counted(plan.partitions, 'partition')}, from 0`])
  }
  if (applied !== undefined) {
    pairs.push(['applied', `${counted(applied.records, 'record')}, ${grouped(applied.quarantined)} quarantined`])
  }
  return pairs
}

/** What to do next; a refusal brings its own advice. */
function advice({ verdict, into }: RebuildReport): readonly string[] {
  switch (verdict) {
    case 'would-start':
      return ['', `Nothing was changed. To rebuild, repeat the command with --execute ${into}`]
    case 'rebuilt':
      return ['', `Start the service on ${into}; it resumes there. The old namespace stays as it is.`]
    case 'interrupted':
      return ['', `What was applied stays. Start the service on ${into} to go on, or rebuild into another namespace.`]
    default:
      return []
  }
}
