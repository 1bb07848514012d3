import { messageOf, systemClock } from '@tidemark/core'
import type { Offset } from '@tidemark/core'
import { answerReadBack } from '@tidemark/log'
import type { LogRecord, PartitionBatch, ReadBack, ReadBackRequest, ReadBackStretch } from '@tidemark/log'
import { newReadBackPatience } from './read-back-patience.ts'
import type { ReadBackPatience } from './read-back-patience.ts'
import type { ClientTuning } from './safe-consumer-options.ts'
import type { ServedReader } from './served-reader.ts'

/** Opens a reader for one round of reading back. */
export type OpenReader = (request: {
  readonly topic: string
  readonly positions: readonly { readonly partition: number; readonly nextOffset: Offset }[]
  readonly deadlineMs: number
}) => Promise<ServedReader>

const readBackBytes = {
  /** One record a partition is wanted, so fetching much of each of thousands of partitions would be waste. */
  least: 65_536,
  /** A long stretch is read through, and each fetch of it costs a round trip. As much as readers fetch by default. */
  most: 1_048_576,
  /** A small record with its share of the batch; a stretch of larger ones needs no less. */
  perOffset: 100,
} as const

/** How many bytes of one partition a read-back should fetch at a time: enough for the longest stretch, within limits. */
export function bytesOfReadBack(stretches: readonly ReadBackStretch[]): number {
  let longest = 1n
  for (const { offset, before } of stretches) {
    if (before !== undefined && before - offset > longest) longest = before - offset
  }
  const { least, most, perOffset } = readBackBytes
  return Math.max(least, Math.min(most, Number(longest) * perOffset))
}

/** How the official client is tuned to read back. */
export function readBackTuning(stretches: readonly ReadBackStretch[]): ClientTuning {
  return { 'fetch.message.max.bytes': bytesOfReadBack(stretches), 'queued.max.messages.kbytes': 16_384 }
}

/** How long one poll of a read-back waits for something to arrive. */
const POLL_WAIT_MS = 200

/**
 * How far apart two stretches of one partition may lie to be read in one go: reading a thousand records costs less than
 * opening a client once more.
 */
const READ_ON_OFFSETS_MAX = 1_000n

/** Stretches of one partition that are read in one go, in rising order. */
type Run = readonly ReadBackStretch[]

/**
 * Reads stretches back: each partition is read from the wanted offset until its first record or its end.
 *
 * A first record above the stretch, or an end behind it, proves that nothing committed stands there. Whatever is not
 * proven when the time is up is `unreadable`: brokers kept silent for the deadline, or the total is spent. Promises: KAF-10.
 */
export async function readBackRecords(request: ReadBackRequest, open: OpenReader): Promise<readonly ReadBack[]> {
  const patience = newReadBackPatience(request)
  const answers: ReadBack[] = []
  for (const [index, round] of roundsOf(request.records).entries()) {
    const reading = readRound(request, round, patience, open)
    // What earlier rounds answered stays answered, also where a later one cannot even be opened.
    const later = (error: unknown): readonly ReadBack[] => unreadable(round.flat(), messageOf(error))
    answers.push(...(await (index === 0 ? reading : reading.catch(later))))
  }
  return answers
}

/** A client reads one position of a partition at a time, so stretches far apart take several rounds. */
function roundsOf(stretches: readonly ReadBackStretch[]): readonly (readonly Run[])[] {
  const rising = [...stretches].sort((a, b) => (a.offset < b.offset ? -1 : a.offset > b.offset ? 1 : 0))
  const runs = new Map<number, ReadBackStretch[][]>(stretches.map(({ partition }) => [partition, []]))
  for (const stretch of rising) {
    const own = runs.get(stretch.partition)!
    const last = own.at(-1)
    const lastOffset = last?.at(-1)?.offset
    if (last === undefined || lastOffset === undefined || stretch.offset - lastOffset > READ_ON_OFFSETS_MAX) {
      own.push([stretch])
    } else last.push(stretch)
  }
  const rounds: Run[][] = []
  for (const own of runs.values()) own.forEach((run, index) => (rounds[index] ??= []).push(run))
  return rounds
}

async function readRound(
  request: ReadBackRequest,
  round: readonly Run[],
  patience: ReadBackPatience,
  open: OpenReader,
): Promise<readonly ReadBack[]> {
  const waiting = new Map(round.map((run) => [run[0]!.partition, [...run]]))
  const answers: ReadBack[] = []
  const giveUp = (message: string): readonly ReadBack[] => [
    ...answers,
    ...unreadable([...waiting.values()].flat(), message),
  ]
  if (patience.remainingMs() <= 0) return giveUp('the deadline passed before the read began')
  const positions = round.map(([first]) => ({ partition: first!.partition, nextOffset: first!.offset }))
  const reader = await open({ topic: request.topic, positions, deadlineMs: patience.remainingMs() })
  patience.served(systemClock.monotonicMs())
  try {
    while (waiting.size > 0) {
      if (request.signal?.aborted === true) return giveUp('cancelled')
      if (patience.remainingMs() <= 0) return giveUp(patience.reason())
      const result = await reader.poll({
        recordsMax: 10_000,
        waitMs: Math.min(POLL_WAIT_MS, Math.max(0, patience.remainingMs())),
      })
      if (result.kind === 'failed') return giveUp(`${result.failure.reason}: ${result.failure.message}`)
      patience.served(result.batches.length > 0 ? systemClock.monotonicMs() : reader.servedUntilMs())
      const done: number[] = []
      for (const batch of result.batches) {
        const run = waiting.get(batch.partition)
        if (run === undefined) continue
        answers.push(...takeAnswers(run, batch))
        if (run.length > 0) continue
        waiting.delete(batch.partition)
        done.push(batch.partition)
      }
      if (done.length > 0 && waiting.size > 0) reader.pause(done)
    }
    return answers
  } finally {
    await reader.close()
  }
}

function unreadable(stretches: readonly ReadBackStretch[], message: string): readonly ReadBack[] {
  return stretches.map((stretch) => ({ kind: 'unreadable', ...stretch, message }))
}

/** Takes the stretches off a run that a batch decides. */
function takeAnswers(run: ReadBackStretch[], { records, endOffset }: PartitionBatch): readonly ReadBack[] {
  const answers: ReadBack[] = []
  const take = (first: LogRecord | undefined, end: Offset | undefined): void => {
    const answer = answerReadBack(run[0]!, first, end)
    if (answer === undefined) return
    answers.push(answer)
    run.shift()
  }
  for (const record of records) while (run.length > 0 && record.offset >= run[0]!.offset) take(record, undefined)
  if (endOffset !== undefined) while (run.length > 0) take(undefined, endOffset)
  return answers
}
