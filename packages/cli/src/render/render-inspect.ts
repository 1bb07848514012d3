import type { InspectedPartition, InspectReport, QuarantinedRecord } from '../reports/inspect-report.ts'
import { counted, grouped } from './printable.ts'
import { renderHint, storeText } from './render-explain.ts'
import { omitted, renderReasons } from './render-reasons.ts'
import type { Style } from './style.ts'
import { textPairs, textTable } from './text-table.ts'
import type { Column } from './text-table.ts'

/** An inspection for people. `raw` shows the stored fields of every partition, not only of damaged ones. */
export function renderInspect(report: InspectReport, style: Style, raw: boolean): readonly string[] {
  const { findings, partitions, quarantine, quarantined } = report
  return [
    headline(report, style),
    '',
    ...textPairs(facts(report), style),
    ...renderHint(report, style),
    ...renderReasons(findings, style),
    ...(partitions.total === 0 ? [] : ['', ...textTable(columns, partitions.items, style)]),
    ...omitted(partitions, 'partition', style),
    ...rawFields(report, style, raw),
    ...(quarantined === 0 ? [] : ['', style.strong(`quarantine (${grouped(quarantined)}, newest first)`)]),
    ...(quarantine.items.length === 0 ? [] : textTable(quarantineColumns, quarantine.items, style)),
  ]
}

function headline(report: InspectReport, style: Style): string {
  const { verdict, namespace, topic } = report
  const of = topic === undefined ? '' : ` of ${topic}`
  switch (verdict) {
    case 'sound':
      return `${style.good(style.strong('sound'))}  ${namespace}${of}`
    case 'unknown-namespace':
      return `${style.bad(style.strong('unknown namespace'))}  nothing is stored under ${namespace}${of}`
    case 'unavailable':
      return `${style.warn(style.strong('unavailable'))}  the store is still loading; what is missing below proves nothing`
    default: {
      const why = topic === undefined ? ': nothing readable names its topic; say it by --topic' : ''
      return `${style.bad(style.strong(verdict))}  ${namespace}${of}${why}`
    }
  }
}

function facts(report: InspectReport): readonly (readonly [string, string])[] {
  const { store, incarnation, meta, verdict } = report
  const { identity } = meta
  const pairs: [string, string][] = [['store', storeText(store)]]
  if (verdict === 'unknown-namespace') return pairs
  if (identity === undefined) pairs.push(['meta', meta.raw === undefined ? 'missing' : 'damaged, see below'])
  else {
    const { topic, clusterId, topicId, partitionCount } = identity
    pairs.push([
      'read from',
      `${topic}, cluster ${clusterId}, topic id ${topicId}, ${counted(partitionCount, 'partition')}`,
    ])
  }
  pairs.push(['incarnation', incarnation.nonce ?? 'none'])
  return pairs
}

const columns: readonly Column<InspectedPartition>[] = [
  { title: 'partition', right: true, cell: ({ partition }) => String(partition) },
  { title: 'next', right: true, cell: (row) => row.next ?? (row.raw === undefined ? 'missing' : 'damaged') },
  { title: 'fence', cell: ({ fence }) => (fence === undefined ? '-' : fenceText(fence)) },
  { title: 'witness', cell: ({ witness }) => (witness === undefined ? '-' : witnessText(witness)) },
  { title: 'twin', right: true, cell: ({ twin }) => twin ?? '' },
  { title: 'quarantined', right: true, cell: ({ quarantined }) => (quarantined === 0 ? '' : grouped(quarantined)) },
]

/** Eight digits of a nonce tell two apart; the whole is in the JSON. */
function fenceText(fence: NonNullable<InspectedPartition['fence']>): string {
  return 'damaged' in fence ? `damaged: ${fence.damaged}` : `epoch ${fence.epoch}, ${fence.nonce.slice(0, 8)}…`
}

function witnessText(witness: NonNullable<InspectedPartition['witness']>): string {
  if ('damaged' in witness) return `damaged: ${witness.damaged}`
  return `${witness.offset}, epoch ${witness.leaderEpoch}, ${witness.digest.slice(0, 8)}…`
}

/** The fields as stored: of meta where it is damaged, and of the partitions that are, or of all. */
function rawFields({ meta, partitions }: InspectReport, style: Style, all: boolean): readonly string[] {
  const shown = partitions.items.filter(({ damaged, raw }) => raw !== undefined && (all || damaged))
  const hashes: [string, Readonly<Record<string, string>>][] = shown.map(({ key, raw }) => [key, raw!])
  if (meta.raw !== undefined && (all || meta.identity === undefined)) hashes.unshift([meta.key, meta.raw])
  return hashes.flatMap(([key, fields]) => [
    '',
    style.strong(key),
    ...Object.entries(fields).map(([field, text]) => `  ${style.faint(field.padEnd(16))}  ${text}`),
  ])
}

const quarantineColumns: readonly Column<QuarantinedRecord>[] = [
  { title: 'partition', right: true, cell: ({ partition }) => String(partition) },
  { title: 'offset', right: true, cell: ({ offset }) => offset },
  { title: 'bytes', right: true, cell: ({ valueBytes }) => (valueBytes === undefined ? '' : grouped(valueBytes)) },
  { title: 'reason', cell: ({ reason, damaged }) => reason ?? `damaged: ${damaged ?? ''}` },
]
