import type { PlanInput, StoredFields } from '@tidemark/checkpoint'
import type { LogIdentity } from '@tidemark/log'

/** What a start must come to: the reasons as `CODE` or `CODE@partition`, or where every partition starts. */
export type OracleVerdict =
  | { readonly kind: 'refused'; readonly reasons: ReadonlySet<string> }
  | {
      readonly kind: 'start'
      readonly createMeta: boolean
      /** By partition: next offset, target and whether a checkpoint is created. */
      readonly partitions: ReadonlyMap<number, OracleStart>
    }

/** Where one partition starts. */
export interface OracleStart {
  readonly next: bigint
  readonly target: bigint
  readonly created: boolean
  /** Where data that lives apart stands, when that is not where the checkpoint stands. */
  readonly data?: bigint
}

/**
 * What a start must come to, worked out the slow way: rule after rule over raw stored texts, in the words of the
 * contract, sharing no code with the planner it judges. Promises: TST-9.
 */
export function startOracle(input: PlanInput): OracleVerdict {
  const reasons = new Set<string>()
  const { stored } = input
  storeRules(input, reasons)
  for (const _ of stored.unreadable) reasons.add('UNPARSEABLE')
  const meta = stored.meta === undefined ? undefined : readHash(stored.meta, META_FIELDS, '', reasons)
  const checkpoints = readCheckpoints(stored.checkpoints, reasons)
  const metaStands = stored.meta !== undefined || stored.unreadable.some(({ key }) => key === `${input.namespace}:meta`)
  const standing = standingCheckpoints(input)
  for (const [partition, parsed] of checkpoints) {
    if (parsed.partition !== partition) reasons.add(`PARTITION_FIELD@${partition}`)
    if (meta !== undefined && differences(meta.identity, parsed.identity).length > 0) {
      reasons.add(`CHECKPOINT_UNLIKE_META@${partition}`)
    }
  }
  if (!metaStands && standing.size > 0) reasons.add('CHECKPOINTS_WITHOUT_META')
  const twins = stored.twins === undefined ? undefined : twinRules(stored.twins, reasons)
  // The witness is of the record applied last, so it is measured against whatever says how far the data is.
  const applied = twins ?? checkpoints
  witnessTextRules(input, applied, reasons)
  settingsRules(input, reasons)

  if (input.identity.kind === 'unproven') reasons.add('IDENTITY_UNPROVEN')
  if (input.identity.kind === 'mismatch') reasons.add('IDENTITY_CHANGED')
  if (input.identity.kind !== 'proven') return { kind: 'refused', reasons }
  const { identity } = input.identity
  const firstCheckpoint = [...checkpoints.keys()].sort((a, b) => a - b)[0]
  const held =
    meta?.identity ?? (firstCheckpoint === undefined ? undefined : checkpoints.get(firstCheckpoint)!.identity)
  const foreign = held === undefined ? [] : differences(held, identity)
  for (const code of foreign) reasons.add(code)
  for (const partition of standing)
    if (partition >= identity.partitionCount) reasons.add(`EXTRA_CHECKPOINT@${partition}`)

  if (!boundsRules(input, identity.partitionCount, reasons)) return { kind: 'refused', reasons }
  const partitions = new Map<number, OracleStart>()
  const bounds = input.bounds?.kind === 'bounds' ? input.bounds.partitions : []
  for (const { partition, low, lastStableOffset, highWatermark } of bounds) {
    const target = input.readyTarget === 'hw' ? highWatermark : lastStableOffset
    const checkpoint = checkpoints.get(partition)
    const twin = twins?.get(partition)
    if (twin !== undefined) {
      if (twin.next > highWatermark) reasons.add(`DATA_TWIN@${partition}`)
      const isBehind = checkpoint !== undefined && twin.next < checkpoint.next
      if (isBehind && twin.next < low) reasons.add(`DATA_TWIN@${partition}`)
    } else if (stored.twins !== undefined && checkpoint !== undefined) {
      // Also where one stands that cannot be read.
      reasons.add(`DATA_TWIN@${partition}`)
    }
    if (foreign.length === 0) witnessRules(input, partition, applied.get(partition)?.next, reasons)
    const place = (next: bigint, created: boolean): void => {
      const start = twin !== undefined && twin.next < next ? twin.next : next
      const data = twin === undefined || twin.next === next ? {} : { data: twin.next }
      partitions.set(partition, { next: start, target, created, ...data })
    }
    if (checkpoint !== undefined) {
      if (checkpoint.next < low) reasons.add(`NEXT_BELOW_LOW@${partition}`)
      if (checkpoint.next > highWatermark) reasons.add(`NEXT_ABOVE_HIGH@${partition}`)
      place(checkpoint.next, false)
    } else if (!standing.has(partition)) {
      const lost = metaStands || standing.size > 0
      if (low > 0n) reasons.add(`LOW_NOT_ZERO@${partition}`)
      if (lost && (low > 0n || input.writeModel !== 'idempotent')) reasons.add(`MISSING_CHECKPOINT@${partition}`)
      place(0n, true)
    }
  }
  if (reasons.size > 0) return { kind: 'refused', reasons }
  return { kind: 'start', createMeta: !metaStands, partitions }
}

const META_FIELDS = ['format_version', 'dispatch_topic', 'partition_count', 'cluster_id', 'topic_id']

interface ParsedHash {
  readonly identity: LogIdentity
  readonly partition: number
  readonly next: bigint
}

function readCheckpoints(
  stored: ReadonlyMap<number, StoredFields>,
  reasons: Set<string>,
): ReadonlyMap<number, ParsedHash> {
  const checkpoints = new Map<number, ParsedHash>()
  for (const [partition, fields] of stored) {
    const parsed = readHash(fields, [...META_FIELDS, 'partition', 'next_offset'], `@${partition}`, reasons)
    if (parsed !== undefined) checkpoints.set(partition, parsed)
  }
  return checkpoints
}

/** Reads a stored hash field by field; anything unexpected is a reason and makes the whole hash worthless. */
function readHash(
  fields: StoredFields,
  wanted: readonly string[],
  where: string,
  reasons: Set<string>,
): ParsedHash | undefined {
  let sound = true
  const bad = (code: string): void => {
    sound = false
    reasons.add(`${code}${where}`)
  }
  const present = Object.keys(fields)
  for (const field of wanted) if (!present.includes(field)) bad('FIELD_MISSING')
  for (const field of present) {
    const text = fields[field]!
    if (!wanted.includes(field)) bad('FIELD_UNKNOWN')
    else if (field === 'format_version' && text !== '1') bad('FORMAT_VERSION')
    else if ((field === 'dispatch_topic' || field === 'cluster_id') && text === '') bad('UNPARSEABLE')
    else if (field === 'topic_id' && !isStoredTopicId(text)) bad('UNPARSEABLE')
    else if (field === 'partition_count' && !isWhole(text, 1n, 100_000n)) bad('UNPARSEABLE')
    else if (field === 'partition' && !isWhole(text, 0n, 100_000n)) bad('UNPARSEABLE')
    else if (field === 'next_offset' && !isWhole(text, 0n, 9_223_372_036_854_775_807n)) bad('UNPARSEABLE')
  }
  if (!sound) return undefined
  return {
    identity: {
      clusterId: fields['cluster_id']!,
      topic: fields['dispatch_topic']!,
      topicId: fields['topic_id']! as LogIdentity['topicId'],
      partitionCount: Number(fields['partition_count']),
    },
    partition: Number(fields['partition'] ?? -1),
    next: BigInt(fields['next_offset'] ?? '-1'),
  }
}

/** Whether a text is exactly how a whole number in a range is written. */
function isWhole(text: string, min: bigint, max: bigint): boolean {
  if (text === '' || [...text].some((digit) => !'0123456789'.includes(digit))) return false
  const value = BigInt(text)
  return String(value) === text && value >= min && value <= max
}

function isStoredTopicId(text: string): boolean {
  const groups = text.split('-')
  const lengths = groups.map((group) => group.length).join(',')
  const digits = groups.join('')
  return lengths === '8,4,4,4,12' && [...digits].every((d) => '0123456789abcdef'.includes(d)) && /[^0]/.test(digits)
}

function differences(expected: LogIdentity, found: LogIdentity): readonly string[] {
  const codes: string[] = []
  if (expected.clusterId !== found.clusterId) codes.push('CLUSTER_ID')
  if (expected.topic !== found.topic) codes.push('TOPIC_NAME')
  if (expected.topicId !== found.topicId) codes.push('TOPIC_ID')
  if (expected.partitionCount !== found.partitionCount) codes.push('PARTITION_COUNT')
  return codes
}

/** The positions that data living apart carries; a text that is none is a reason. */
function twinRules(stored: ReadonlyMap<number, string>, reasons: Set<string>): Map<number, { readonly next: bigint }> {
  const twins = new Map<number, { readonly next: bigint }>()
  for (const [partition, text] of stored) {
    if (isWhole(text, 0n, 9_223_372_036_854_775_807n)) twins.set(partition, { next: BigInt(text) })
    else reasons.add(`DATA_TWIN@${partition}`)
  }
  return twins
}

/** Partitions under whose key anything stands, readable or not. */
function standingCheckpoints(input: PlanInput): ReadonlySet<number> {
  const prefix = `${input.namespace}:checkpoint:${input.topic}:`
  const unreadable = input.stored.unreadable.flatMap(({ key }) => {
    const rest = key.startsWith(prefix) ? key.slice(prefix.length) : ''
    return isWhole(rest, 0n, 9_999_999_999n) ? [Number(rest)] : []
  })
  return new Set([...input.stored.checkpoints.keys(), ...unreadable])
}

function storeRules(input: PlanInput, reasons: Set<string>): void {
  const { facts } = input.stored
  if (!facts.isLoaded) reasons.add('STORE_LOADING')
  if (!facts.isPrimary) reasons.add('STORE_REPLICA')
  if (facts.database.expected !== facts.database.found) reasons.add('STORE_DATABASE')
  if (facts.expiringKeys.length > 0) reasons.add('KEY_EXPIRES')
  const keepsOurs = input.declarations.dataKeysCarryNoExpiry
  if (facts.eviction.kind === 'any-key' || facts.eviction.kind === 'unknown') reasons.add('EVICTION_POLICY')
  if (facts.eviction.kind === 'expiring-only' && !keepsOurs) reasons.add('EVICTION_POLICY')
}

function settingsRules(input: PlanInput, reasons: Set<string>): void {
  // Unproven identity leaves nothing to ask settings about; otherwise settings that nobody read are unreadable.
  if (input.settings === undefined) {
    if (input.identity.kind === 'proven') reasons.add('SETTINGS_UNREADABLE')
  } else if (input.settings.kind === 'unreadable') {
    reasons.add('SETTINGS_UNREADABLE')
  } else if (input.settings.settings.compacted && !input.declarations.latestRecordPerKeySuffices) {
    reasons.add('COMPACTED_TOPIC')
  }
}

/** Adds why the bounds cannot be used; false when they cannot. */
function boundsRules(input: PlanInput, count: number, reasons: Set<string>): boolean {
  const { bounds } = input
  if (bounds === undefined || bounds.kind === 'unreadable') {
    const where = bounds?.partition === undefined ? '' : `@${bounds.partition}`
    reasons.add(`BOUNDS_UNREADABLE${where}`)
    return false
  }
  const reported = bounds.partitions.map(({ partition }) => partition).sort((a, b) => a - b)
  const complete = reported.length === count && reported.every((partition, index) => partition === index)
  const inOrder = bounds.partitions.every((b) => b.low <= b.lastStableOffset && b.lastStableOffset <= b.highWatermark)
  if (complete && inOrder) return true
  reasons.add('BOUNDS_UNREADABLE')
  return false
}

interface ParsedWitness {
  readonly offset: bigint
  readonly digest: string
}

function parseWitness(text: string): ParsedWitness | undefined {
  let parsed: unknown
  try {
    parsed = JSON.parse(text)
  } catch {
    return undefined
  }
  if (typeof parsed !== 'object' || parsed === null) return undefined
  const { digest, epoch, offset, v } = parsed as Record<string, unknown>
  if (v !== 1 || typeof digest !== 'string' || typeof offset !== 'string' || typeof epoch !== 'number') return undefined
  const isDigest = digest.length === 64 && [...digest].every((d) => '0123456789abcdef'.includes(d))
  const isEpoch = Number.isInteger(epoch) && epoch >= -1 && String(epoch).length <= 10
  if (!isDigest || !isEpoch || !isWhole(offset, 0n, 9_223_372_036_854_775_807n)) return undefined
  // Only the one text that would have been written counts.
  const written = `{"digest":"${digest}","epoch":${epoch},"offset":"${offset}","v":1}`
  return written === text ? { offset: BigInt(offset), digest } : undefined
}

function witnessTextRules(
  input: PlanInput,
  checkpoints: ReadonlyMap<number, { readonly next: bigint }>,
  reasons: Set<string>,
): void {
  for (const [partition, text] of input.stored.witnesses) {
    const witness = parseWitness(text)
    const next = checkpoints.get(partition)?.next
    if (witness === undefined || (next !== undefined && witness.offset >= next)) reasons.add(`UNPARSEABLE@${partition}`)
  }
}

function witnessRules(input: PlanInput, partition: number, next: bigint | undefined, reasons: Set<string>): void {
  if (next === undefined) return
  const text = input.stored.witnesses.get(partition)
  const witness = text === undefined ? undefined : parseWitness(text)
  const bounds =
    input.bounds?.kind === 'bounds' ? input.bounds.partitions.find((b) => b.partition === partition) : undefined
  if (witness === undefined || bounds === undefined || witness.offset >= next) return
  if (witness.offset >= bounds.highWatermark) {
    reasons.add(`LOG_DIVERGED@${partition}`)
    return
  }
  const answerAbout = (offset: bigint, before: bigint | undefined) =>
    input.readBacks.find((each) => each.partition === partition && each.offset === offset && each.before === before)
  if (witness.offset >= bounds.low) {
    const answer = answerAbout(witness.offset, undefined)
    const compacted = input.settings?.kind === 'settings' && input.settings.settings.compacted
    if (answer === undefined || answer.kind === 'unreadable') reasons.add(`WITNESS_UNPROVEN@${partition}`)
    else if (answer.kind === 'absent' ? !compacted : answer.witness.digest !== witness.digest) {
      reasons.add(`LOG_DIVERGED@${partition}`)
    }
    // One reason a partition is enough: what stands between says nothing more once the record itself is in doubt.
    if (reasons.has(`WITNESS_UNPROVEN@${partition}`) || reasons.has(`LOG_DIVERGED@${partition}`)) return
  }
  // Between the record and the position nothing was read, so nothing may stand there, as far as the log still reaches.
  const from = witness.offset + 1n > bounds.low ? witness.offset + 1n : bounds.low
  if (from >= next || next > bounds.highWatermark) return
  const passed = answerAbout(from, next)
  if (passed === undefined || passed.kind === 'unreadable') reasons.add(`WITNESS_UNPROVEN@${partition}`)
  else if (passed.kind === 'record') reasons.add(`LOG_DIVERGED@${partition}`)
}
