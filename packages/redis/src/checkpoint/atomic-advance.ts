import type { AdvanceOutcome, ProjectionWrite, QuarantineEntry, StepLimits } from '@tidemark/checkpoint'
import type { RedisLink } from '../connection/redis-link.ts'
import { malformed } from '../connection/reply-shape.ts'
import { advanceCommand, runPart } from './advance-step.ts'
import type { StepRequest } from './advance-step.ts'
import type { KeyLayout } from './key-layout.ts'
import { cutWrites } from './write-encoding.ts'
import type { StepWrites } from './write-encoding.ts'

/** How many quarantine entries one script holds; an entry is about 1 KiB at most. */
const quarantineEntriesMax = 128

/**
 * The atomic step: one script, or for a record beyond the limits several fenced ones with the checkpoint in the last.
 *
 * Several scripts run one after the other on the same link: a later one must not run when an earlier one failed, and the
 * last one also checks that the process is the one that confirmed the earlier ones. `confirmedBy` is the run id of a
 * process that confirmed data of this step before. Promises: RED-9, RED-13.
 */
export async function atomicAdvance(
  link: RedisLink,
  keys: KeyLayout,
  dataPrefix: string,
  limits: StepLimits,
  request: StepRequest,
  step: StepWrites,
  confirmedBy?: string,
): Promise<AdvanceOutcome> {
  const parts = stepParts(step, request.quarantine, limits, dataPrefix)
  const { topic } = request.identity
  const runId = parts.length === 1 ? confirmedBy : link.runIdOf(keys.checkpoint(topic, request.partition))
  // All of them are made before the first is sent: what cannot be sent must not leave half a step.
  const commands = parts.map((part, index) =>
    advanceCommand(keys, dataPrefix, request, { ...part, isLast: index === parts.length - 1, runId }),
  )
  for (const [index, command] of commands.entries()) {
    const outcome = await runPart(link, command)
    if (outcome.kind !== 'written') return outcome
    if (index === commands.length - 1) throw malformed('advance', 'an outcome of the last script', [outcome.kind])
  }
  throw malformed('advance', 'at least one script', undefined)
}

/** What one script of a step writes; only the last one moves the checkpoint. */
interface PartContent {
  readonly writes: readonly ProjectionWrite[]
  readonly quarantine: readonly QuarantineEntry[]
}

/**
 * The scripts of a step: nearly always one.
 *
 * Beyond the limits data goes first, in the order of writing, then quarantine entries; each is repeatable, so that a step
 * cut off in between is simply repeated.
 */
function stepParts(
  step: StepWrites,
  quarantine: readonly QuarantineEntry[],
  limits: StepLimits,
  dataPrefix: string,
): readonly PartContent[] {
  const parts: PartContent[] = cutWrites(step, limits, dataPrefix).map((cut) => ({ writes: cut, quarantine: [] }))
  if (quarantine.length === 0) return parts
  if (parts.length === 1 && quarantine.length <= quarantineEntriesMax) return [{ writes: step.writes, quarantine }]
  for (let from = 0; from < quarantine.length; from += quarantineEntriesMax) {
    parts.push({ writes: [], quarantine: quarantine.slice(from, from + quarantineEntriesMax) })
  }
  return parts
}
