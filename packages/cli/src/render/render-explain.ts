import type { ExplainedPartition, ExplainReport } from '../reports/explain-report.ts'
import type { StoreLine } from '../reports/report.ts'
import { counted, grouped } from './printable.ts'
import { omitted, renderReasons } from './render-reasons.ts'
import type { Style } from './style.ts'
import { textPairs, textTable } from './text-table.ts'
import type { Column } from './text-table.ts'

/** An explanation for people. */
export function renderExplain(report: ExplainReport, style: Style): readonly string[] {
  const { namespace, topic, refusals, notes, leftOpen, partitions, deep } = report
  const what = `${namespace} from ${topic}`
  const count = counted(refusals.total, 'reason')
  const head =
    report.verdict === 'would-start'
      ? `${style.good(style.strong('would start'))}  ${what}`
      : `${style.bad(style.strong(report.verdict))}  ${what}: ${count}`
  return [
    head,
    '',
    ...textPairs(facts(report), style),
    ...renderHint(report, style),
    ...renderReasons(refusals, style),
    ...(partitions.total === 0 ? [] : ['', ...textTable(columns, partitions.items, style)]),
    ...omitted(partitions, 'partition', style),
    ...(notes.total === 0 ? [] : ['', style.strong('notes')]),
    ...notes.items.map(({ code, partition, message }) => `  ${style.warn(code)} partition ${partition}: ${message}`),
    ...omitted(notes, 'note', style),
    ...renderLeftOpen(leftOpen, style),
    ...(deep === undefined ? [] : renderDeep(deep, style)),
  ]
}

/** What a place may be besides what it was named as. */
export function renderHint({ hint }: { readonly hint?: string }, style: Style): readonly string[] {
  return hint === undefined ? [] : ['', style.warn(hint)]
}

/** What only the start itself asks; a good verdict must not be read without it. */
export function renderLeftOpen({ items }: ExplainReport['leftOpen'], style: Style): readonly string[] {
  if (items.length === 0) return []
  return ['', style.strong('left open'), ...items.map(({ code, message }) => `  ${style.warn(code)}: ${message}`)]
}

/** What a store says of itself, on one line. */
export function storeText({ name, primary, loaded, evictionPolicy, durability }: StoreLine): string {
  const role = primary ? 'primary' : 'replica'
  return [name, ...(loaded ? [] : ['loading']), role, `eviction ${evictionPolicy}`, `durability ${durability}`].join(
    ', ',
  )
}

function facts(report: ExplainReport): readonly (readonly [string, string])[] {
  const { identity, name, cleanupPolicy, retentionMs } = report.log
  const { meta, checkpoints } = report.creates
  const created = [
    ...(meta ? ['meta'] : []),
    ...(checkpoints > 0 ? [`${counted(checkpoints, 'checkpoint')} at 0`] : []),
  ]
  return [
    ['store', storeText(report.store)],
    ['log', name],
    ['identity', identity === undefined ? 'not proven' : identityText(identity)],
    ...(cleanupPolicy === undefined
      ? []
      : [['keeps', `${cleanupPolicy}, ${retentionText(retentionMs!)}`] as [string, string]]),
    ...(created.length === 0 ? [] : [['creates', created.join(' and ')] as [string, string]]),
    ...(report.verdict === 'would-start'
      ? [['to read', `${counted(report.toRead, 'offset')} until ready (${report.readyTarget})`] as [string, string]]
      : []),
  ]
}

function identityText(identity: NonNullable<ExplainReport['log']['identity']>): string {
  const { clusterId, topicId, partitionCount } = identity
  return `cluster ${clusterId}, topic id ${topicId}, ${counted(partitionCount, 'partition')}`
}

function retentionText(retentionMs: string): string {
  if (retentionMs === '-1') return 'for ever'
  const hours = Number(retentionMs) / 3_600_000
  return hours >= 48 ? counted(Math.round(hours / 24), 'day') : counted(Math.round(hours * 10) / 10, 'hour')
}

const columns: readonly Column<ExplainedPartition>[] = [
  { title: 'partition', right: true, cell: ({ partition }) => String(partition) },
  { title: 'next', right: true, cell: ({ next }) => next ?? '-' },
  { title: 'low', right: true, cell: ({ low }) => low },
  { title: 'target', right: true, cell: ({ target }) => target },
  { title: 'high', right: true, cell: ({ highWatermark }) => highWatermark },
  { title: 'hw-lso', right: true, cell: ({ openTransaction }) => openTransaction },
  { title: 'headroom', right: true, cell: ({ headroom }) => headroom ?? '-' },
  { title: 'to read', right: true, cell: ({ toRead }) => toRead ?? '-' },
  { title: 'origin', cell: ({ origin, refused }) => (refused ? 'refused' : (origin ?? '')) },
]

function renderDeep(deep: NonNullable<ExplainReport['deep']>, style: Style): readonly string[] {
  const { keysSeen, strays } = deep
  const head = `${counted(keysSeen, 'key')} under the namespace, ${grouped(strays.total)} not of this projection`
  return [
    '',
    style.strong('deep'),
    `  ${head}`,
    ...strays.items.map((key) => `  ${key}`),
    ...omitted(strays, 'key', style),
  ]
}
