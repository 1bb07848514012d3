import { checkpointKey, decodeCheckpoint, decodeMeta, metaKey } from '@tidemark/checkpoint'
import type { NamespaceInspection, Namespace, QuarantineListing, Refusal, StoredFields } from '@tidemark/checkpoint'
import { decodeFence, decodeWitness } from '@tidemark/log'
import { verdicts } from '../verdicts.ts'
import type { Verdict } from '../verdicts.ts'
import { printable } from '../render/printable.ts'
import { boundedList, boundedMap } from './bounded-list.ts'
import type { BoundedList } from './bounded-list.ts'
import { reasonLine, shownIdentity, storeLine } from './reason-line.ts'
import { REPORT_VERSION } from './report.ts'
import type { ReasonLine, ReportHead, ShownIdentity, StoreLine } from './report.ts'

/** What `inspect` prints. Raw texts are cut to a length and made printable. */
export interface InspectReport extends ReportHead<'inspect'> {
  readonly namespace: string
  /** Absent where nothing names it. */
  readonly topic?: string
  readonly store: StoreLine
  readonly incarnation: { readonly nonce?: string; readonly process: string }
  readonly meta: { readonly key: string; readonly raw?: StoredFields; readonly identity?: ShownIdentity }
  readonly findings: BoundedList<ReasonLine>
  /** What the place may be besides what it was named as. */
  readonly hint?: string
  readonly unreadable: BoundedList<{ readonly key: string; readonly problem: string }>
  readonly partitions: BoundedList<InspectedPartition>
  /** Records set aside, over all partitions. */
  readonly quarantined: number
  /** The newest entries of the partitions that have some. */
  readonly quarantine: BoundedList<QuarantinedRecord>
}

/** What is stored of one partition. What is not there is absent. */
export interface InspectedPartition {
  readonly partition: number
  /** Of its checkpoint. */
  readonly key: string
  readonly next?: string
  readonly fence?: { readonly epoch: string; readonly nonce: string } | { readonly damaged: string }
  readonly witness?:
    { readonly offset: string; readonly leaderEpoch: number; readonly digest: string } | { readonly damaged: string }
  /** The position that the data carries itself, where it lives apart from its checkpoint. */
  readonly twin?: string
  readonly quarantined: number
  /** The fields as they are stored. */
  readonly raw?: StoredFields
  readonly damaged: boolean
}

/** One record set aside. */
export interface QuarantinedRecord {
  readonly partition: number
  readonly offset: string
  readonly reason?: string
  readonly valueBytes?: number
  readonly timestampMs?: number | string
  /** The stored text, where it is not an entry of ours. */
  readonly damaged?: string
}

/** What an inspection is reported with. */
export interface InspectParts {
  readonly namespace: Namespace
  readonly storeName: string
  readonly hint?: string | undefined
  readonly inspection: NamespaceInspection
  readonly quarantine: ReadonlyMap<number, QuarantineListing>
  readonly limit: number
}

/** The report of an inspection. */
export function inspectReport(parts: InspectParts): InspectReport {
  const { namespace, storeName, inspection, limit } = parts
  const { stored } = inspection
  const { meta, incarnation, unreadable } = stored
  const topic = inspection.kind === 'found' ? inspection.topic : undefined
  const findings = findingsOf(inspection)
  const rows = topic === undefined ? [] : inspectedPartitions(namespace, topic, inspection)
  const decoded = meta === undefined ? undefined : decodeMeta(meta)
  const verdict = inspectVerdict(inspection)
  const listed = [...parts.quarantine].flatMap(([partition, { newest }]) =>
    newest.map(({ offset, text }) => quarantinedRecord(partition, offset, text)),
  )
  const quarantined = [...stored.quarantined.values()].reduce((sum, count) => sum + count, 0)
  return {
    version: REPORT_VERSION,
    command: 'inspect',
    verdict,
    exitCode: verdicts[verdict].exitCode,
    namespace,
    ...(topic === undefined ? {} : { topic }),
    store: storeLine(storeName, stored),
    incarnation: {
      process: printable(incarnation.process),
      ...(incarnation.nonce === undefined ? {} : { nonce: printable(incarnation.nonce) }),
    },
    meta: {
      key: metaKey(namespace),
      ...(meta === undefined ? {} : { raw: rawFields(meta) }),
      ...(decoded?.kind === 'decoded' ? { identity: shownIdentity(decoded.value.identity) } : {}),
    },
    findings: boundedMap(findings, limit, reasonLine),
    ...(parts.hint === undefined ? {} : { hint: parts.hint }),
    unreadable: boundedMap(unreadable, limit, ({ key, problem }) => ({
      key: printable(key),
      problem: printable(problem),
    })),
    // Those with damage come first, so that a limit does not hide them.
    partitions: boundedList([...rows.filter(({ damaged }) => damaged), ...rows.filter((row) => !row.damaged)], limit),
    quarantined,
    quarantine: { total: quarantined, items: listed.slice(0, limit) },
  }
}

function findingsOf(inspection: NamespaceInspection): readonly Refusal[] {
  if (inspection.kind === 'unknown') return []
  return inspection.kind === 'found' ? [...inspection.damage, ...inspection.store] : inspection.findings
}

function inspectVerdict(inspection: NamespaceInspection): Verdict {
  // A store that is still loading shows a part of itself: nothing may be concluded from what is missing.
  if (!inspection.stored.facts.isLoaded) return 'unavailable'
  if (inspection.kind === 'unknown') return 'unknown-namespace'
  if (inspection.kind === 'topic-unknown' || inspection.damage.length > 0) return 'damaged'
  return inspection.store.length > 0 ? 'refused' : 'sound'
}

function inspectedPartitions(
  namespace: Namespace,
  topic: string,
  inspection: NamespaceInspection,
): readonly InspectedPartition[] {
  const { stored } = inspection
  const damage = inspection.kind === 'found' ? inspection.damage : []
  const damaged = new Set(damage.map(({ partition }) => partition))
  const found = inspection.kind === 'found' ? inspection.review : undefined
  const count = found?.meta?.identity.partitionCount ?? 0
  const { checkpoints, fences, witnesses, quarantined, twins = new Map<number, string>() } = stored
  const maps: readonly ReadonlyMap<number, unknown>[] = [checkpoints, fences, witnesses, quarantined, twins]
  const partitions = new Set([...Array(count).keys(), ...maps.flatMap((map) => [...map.keys()])])
  return [...partitions]
    .sort((a, b) => a - b)
    .map((partition) => {
      const fields = stored.checkpoints.get(partition)
      const decoded = fields === undefined ? undefined : decodeCheckpoint(fields)
      const twin = stored.twins?.get(partition)
      return {
        partition,
        key: checkpointKey(namespace, topic, partition),
        ...(decoded?.kind === 'decoded' ? { next: String(decoded.value.nextOffset) } : {}),
        ...fenceOf(stored.fences.get(partition)),
        ...witnessOfText(stored.witnesses.get(partition)),
        ...(twin === undefined ? {} : { twin: printable(twin) }),
        quarantined: stored.quarantined.get(partition) ?? 0,
        ...(fields === undefined ? {} : { raw: rawFields(fields) }),
        damaged: damaged.has(partition),
      }
    })
}

function fenceOf(text: string | undefined): Pick<InspectedPartition, 'fence'> {
  if (text === undefined) return {}
  const fence = decodeFence(text)
  if (fence === undefined) return { fence: { damaged: printable(text) } }
  return { fence: { epoch: String(fence.epoch), nonce: fence.nonce } }
}

function witnessOfText(text: string | undefined): Pick<InspectedPartition, 'witness'> {
  if (text === undefined) return {}
  const witness = decodeWitness(text)
  if (witness === undefined) return { witness: { damaged: printable(text) } }
  return { witness: { ...witness, offset: String(witness.offset) } }
}

function rawFields(fields: StoredFields): StoredFields {
  return Object.fromEntries(Object.entries(fields).map(([field, text]) => [printable(field), printable(text)]))
}

function quarantinedRecord(partition: number, offset: string, text: string): QuarantinedRecord {
  const where = { partition, offset: printable(offset, 32) }
  try {
    const { reason, valueBytes, timestampMs } = JSON.parse(text) as Record<string, unknown>
    if (typeof reason === 'string' && typeof valueBytes === 'number' && timestampMs !== undefined) {
      return { ...where, reason: printable(reason), valueBytes, timestampMs: timestampMs as number }
    }
  } catch {
    // Not ours; it is shown as it stands.
  }
  return { ...where, damaged: printable(text) }
}
