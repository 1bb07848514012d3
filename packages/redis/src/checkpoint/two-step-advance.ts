import type { AdvanceOutcome, ProjectionWrite, StepLimits } from '@tidemark/checkpoint'
import { redisErrors } from '../errors.ts'
import type { RedisCommand, RedisLink } from '../connection/redis-link.ts'
import { arrayReply, countReply, malformed, textReply } from '../connection/reply-shape.ts'
import { atomicAdvance } from './atomic-advance.ts'
import { checkDataKeys } from './advance-step.ts'
import type { StepRequest } from './advance-step.ts'
import type { KeyLayout } from './key-layout.ts'
import { raiseValueScript } from './scripts/raise-value.ts'
import { cutWrites, groupWrites } from './write-encoding.ts'
import type { StepWrites } from './write-encoding.ts'

/** How many elements one command carries, so that no single command blocks the server for long. */
const elementsMax = 1_000

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
  if (keys.isSlotted) checkDataKeys(keys, new Set(step.writes.map(({ key }) => dataPrefix + key)))
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
  return atomicAdvance(link, keys, dataPrefix, limits, request, { writes: [], byteCount: 0 }, runId)
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
