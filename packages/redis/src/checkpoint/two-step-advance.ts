import type { AdvanceOutcome, ProjectionWrite, StepLimits } from '@tidemark/checkpoint'
import { invariant } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { redisErrors } from '../errors.ts'
import type { RedisCommand, RedisLink } from '../connection/redis-link.ts'
import { arrayReply, countReply, malformed, textReply } from '../connection/reply-shape.ts'
import { atomicAdvance } from './atomic-advance.ts'
import { checkDataKeys } from './advance-step.ts'
import type { StepRequest } from './advance-step.ts'
import type { KeyLayout } from './key-layout.ts'
import { createShardMarks } from './shard-marks.ts'
import { raiseValueScript } from './scripts/raise-value.ts'
import { cutWrites, groupWrites } from './write-encoding.ts'
import type { StepWrites } from './write-encoding.ts'

/** How many elements one command carries, so that no single command blocks the server for long. */
const elementsMax = 1_000

const nothing: StepWrites = { writes: [], byteCount: 0 }

/**
 * The two-step form: all writes confirmed, every reply checked, then compare-and-set of the checkpoint.
 *
 * The compare-and-set goes over the same unbroken link, and checks that the process is the one that confirmed the
 * writes: otherwise a failover in between could keep the position and lose the data. Promises: RED-14.
 */
export async function twoStepAdvance(
  link: RedisLink,
  keys: KeyLayout,
  dataPrefix: string,
  limits: StepLimits,
  request: StepRequest,
  step: StepWrites,
): Promise<AdvanceOutcome> {
  // On one server every key lies with the checkpoint, and nobody asks which they are.
  const dataKeys = new Set(keys.isSlotted ? step.writes.map(({ key }) => dataPrefix + key) : [])
  checkDataKeys(keys, dataKeys)
  const { apart, ...level } = request
  const marks = createShardMarks(link, keys, request)
  const move = (moved: StepRequest, runId?: string): Promise<AdvanceOutcome> =>
    atomicAdvance(link, keys, dataPrefix, limits, moved, nothing, runId)
  // The data of some shard is behind the checkpoint: while it is replayed, what stands beside the checkpoint says so.
  const replaying = (at: Offset): Promise<AdvanceOutcome> => {
    const { checkpoint } = apart!
    const still = { from: checkpoint, to: checkpoint, witness: undefined, quarantine: [] }
    return move({ ...level, ...still, ownWrites: marks!.replayedTo(at) })
  }
  if (apart !== undefined) {
    invariant(marks !== undefined && apart.data === request.from, 'RED-42', 'only data that is behind is ever apart')
    const outcome = await replaying(request.from)
    if (outcome.kind !== 'advanced') return outcome
  }
  // Taken before the writes: a server exchanged in between has another run id and confirmed none of them.
  const runId = link.runIdOf(keys.checkpoint(request.identity.topic, request.partition))
  for (const cut of cutWrites(step, limits, dataPrefix)) {
    const commands = dataCommands(cut, dataPrefix)
    const replies = await link.sendAll(
      'advance',
      commands.map(({ command }) => command),
    )
    commands.forEach((data, index) => checkDataReply(data, replies[index]))
  }
  if (marks === undefined) return move(level, runId)
  const touched = apart === undefined ? marks.shardsOf(dataKeys) : marks.allShards
  // After the data, not with it: a pipeline goes on behind a write that failed, and a mark must never say too much.
  const raised = marks.raiseCommands(touched).map((command): DataCommand => ({ command, elements: 'raise' }))
  const replies = await link.sendAll(
    'advance',
    raised.map(({ command }) => command),
  )
  raised.forEach((mark, index) => checkDataReply(mark, replies[index]))
  if (apart !== undefined && request.to < apart.checkpoint) return replaying(request.to)
  const from = apart?.checkpoint ?? request.from
  return move({ ...level, from, ownWrites: marks.due(touched, apart !== undefined) }, runId)
}

/** A data command with what its reply may be. */
interface DataCommand {
  readonly command: RedisCommand
  /** How many elements it writes; a raise answers with a word instead. */
  readonly elements: number | 'raise'
}

/** One command per key and kind of write, cut at {@link elementsMax}; raises go one by one, since each is a script. */
function dataCommands(writes: readonly ProjectionWrite[], dataPrefix: string): readonly DataCommand[] {
  const commands: DataCommand[] = []
  for (const [key, runs] of groupWrites(writes, dataPrefix)) {
    for (const run of runs) {
      if (run.letter === 'M') {
        for (const value of run.values) {
          commands.push({ command: { script: raiseValueScript, keys: [key], args: [value] }, elements: 'raise' })
        }
        continue
      }
      const width = run.letter === 'S' ? 1 : 2
      const head = run.letter === 'S' ? [key] : [key, run.letter === 'G' ? 'GT' : 'LT']
      const name = run.letter === 'S' ? 'SADD' : 'ZADD'
      if (!'GLS'.includes(run.letter)) {
        throw redisErrors.create('TM_REDIS_WRITE_NOT_COMMUTING', { op: run.letter, key: key.slice(0, 128) })
      }
      for (let from = 0; from < run.values.length; from += elementsMax * width) {
        const values = run.values.slice(from, from + elementsMax * width)
        commands.push({ command: { name, args: [...head, ...values], key }, elements: values.length / width })
      }
    }
  }
  return commands
}

/** A write counts as confirmed only by a reply it can really give; an error was raised before this. */
function checkDataReply(data: DataCommand, reply: unknown): void {
  if (data.elements !== 'raise') {
    // Both commands answer with how many elements are new: any number up to all of them is a confirmation.
    countReply('advance', reply, data.elements)
    return
  }
  const parts = arrayReply('advance', reply)
  const text = (index: number): string => textReply('advance', parts[index])
  if (parts.length === 1 && parts[0] === 'written') return
  if (parts.length === 3 && parts[0] === 'wrongtype') {
    throw redisErrors.create('TM_REDIS_WRONG_TYPE', { operation: 'advance', key: text(1), found: text(2) })
  }
  if (parts.length === 3 && parts[0] === 'notanumber') {
    throw redisErrors.create('TM_REDIS_VALUE_NOT_A_NUMBER', { key: text(1), found: text(2) })
  }
  throw malformed('advance', 'a known outcome of known length', reply)
}
