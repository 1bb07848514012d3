import { openDispatchWriter } from '../backend/open-dispatch-writer.ts'
import type { DispatchWriter } from '../backend/dispatch-writer.ts'
import { createDispatchSource } from '../proof/dispatch-source.ts'
import type { DispatchSource } from '../proof/dispatch-source.ts'
import type { SessionComparison } from '../proof/compare-sessions.ts'
import type { LoggedSessions } from '../proof/logged-sessions.ts'
import type { ProjectorExit } from '../proof/projector-process.ts'
import type { ReplayWindow } from '../proof/replay-window.ts'
import { exitCodes } from '../service/exit-codes.ts'
import { askAndDrain, compareWithLog, inspectCrash, killInTheMiddle, startProjector } from './crash-and-resume.ts'
import { DEMO_BATCH_RECORDS_MAX } from './demo-world.ts'
import type { DemoWorld } from './demo-world.ts'
import type { Narrator } from './narrator.ts'
import type { ProofRow } from './proof-table.ts'
import { recreateAndStart } from './recreate-and-refuse.ts'
import type { RefusedStart } from './recreate-and-refuse.ts'

const partitions = 4
const [usersCount, dispatches, dispatchesWhileDown, perTransaction] = [100, 3_000, 500, 50]

/** Writes, kills, resumes, compares, recreates; answers with what was measured. */
export async function runDemo(world: DemoWorld, narrator: Narrator): Promise<readonly ProofRow[]> {
  const source = createDispatchSource({ users: usersCount, startMs: Date.now(), random: Math.random })
  narrator.step(`Create topic ${world.topic} with ${partitions} partitions and write ${dispatches} dispatches to it`)
  await world.createTopic(partitions)
  await write(world, source, dispatches)
  narrator.say(`written in transactions of ${perTransaction}; every fifth is followed by one that is aborted`)

  narrator.step('Start the projector, and kill it with SIGKILL in the middle of its work')
  const killed = await killInTheMiddle(startProjector(world, narrator), 40)
  narrator.say(`the process is gone: ${killed.signal ?? killed.code}`)
  const windows = await inspectCrash(world)
  windows.forEach((window) => narrator.say(windowLine(window)))

  narrator.step(`Write ${dispatchesWhileDown} more while it is down: the producer does not notice`)
  await write(world, source, dispatchesWhileDown)

  narrator.step(
    'Start it again: it resumes at its checkpoints and catches up to the end of the log as of its start, H0',
  )
  const user = [...source.users][0]!
  const drained = await askAndDrain(startProjector(world, narrator), user, narrator)
  narrator.say(`drained after SIGTERM, exit code ${drained.code}`)

  narrator.step('Recompute every session from the log, independently, and compare')
  const { logged, comparison } = await compareWithLog(world, source.abortedUsers)
  narrator.say(`${logged.dispatches.length} committed dispatches, ${comparison.sessions} sessions stored`)

  narrator.step(
    `Recreate the topic under the same name with ${partitions - 1} partitions, and start the projector again`,
  )
  const refused = await recreateAndStart(world, partitions - 1, narrator)

  return proofRows({ source, killed, windows, drained, logged, comparison, refused })
}

interface Measured {
  readonly source: DispatchSource
  readonly killed: ProjectorExit
  readonly windows: readonly ReplayWindow[]
  readonly drained: ProjectorExit
  readonly logged: LoggedSessions
  readonly comparison: SessionComparison
  readonly refused: RefusedStart
}

function proofRows(measured: Measured): readonly ProofRow[] {
  const { source, killed, windows, drained, logged, comparison, refused } = measured
  const replayed = windows.reduce((sum, window) => sum + window.replayed, 0)
  const replayedMax = Math.max(0, ...windows.map((window) => window.replayed))
  const lostAtCrash = windows.reduce((sum, window) => sum + window.lost, 0)
  return [
    row('users', logged.sessions.size, 'as many as took part', logged.sessions.size === source.users.size),
    row('conversations', countConversations(logged.sessions), 'more than none', comparison.sessions > 0),
    row(
      'dispatches committed',
      logged.dispatches.length,
      `${dispatches + dispatchesWhileDown} written`,
      logged.dispatches.length === dispatches + dispatchesWhileDown,
    ),
    row(
      'applied before the crash',
      windows.reduce((sum, { nextOffset }) => sum + Number(nextOffset), 0),
      'some, not all',
      killed.signal === 'SIGKILL' && windows.some(({ nextOffset }) => nextOffset > 0n),
    ),
    row(
      'replays after the crash',
      replayed,
      `at most ${DEMO_BATCH_RECORDS_MAX} a partition`,
      replayedMax <= DEMO_BATCH_RECORDS_MAX,
    ),
    row('lost', comparison.lost.length + lostAtCrash, '0', comparison.lost.length + lostAtCrash === 0),
    row('duplicates', comparison.unexplained.length, '0', comparison.unexplained.length === 0),
    row('exit code after SIGTERM', drained.code ?? 'none', '0', drained.code === exitCodes.ok),
    row(
      'reasons against the new topic',
      refused.reasons,
      `exit code 3`,
      refused.reasons > 1 && refused.exit.code === exitCodes.refused,
    ),
    row(
      'positions after the refusal',
      refused.positionsUnchanged ? 'unchanged' : 'CHANGED',
      'byte for byte',
      refused.positionsUnchanged,
    ),
  ]
}

async function write(world: DemoWorld, source: DispatchSource, count: number): Promise<void> {
  const writer: DispatchWriter = await openDispatchWriter({ place: world.log, topic: world.topic, deadlineMs: 20_000 })
  try {
    for (let written = 0, transaction = 1; written < count; written += perTransaction, transaction += 1) {
      await writer.write(source.next(Math.min(perTransaction, count - written)), 'commit')
      if (transaction % 5 === 0) await writer.write(source.nextAborted(perTransaction), 'abort')
    }
  } finally {
    await writer.close()
  }
}

function countConversations(sessions: ReadonlyMap<string, ReadonlyMap<string, number>>): number {
  return new Set([...sessions.values()].flatMap((conversations) => [...conversations.keys()])).size
}

function windowLine({ partition, nextOffset, replayed, lost }: ReplayWindow): string {
  return `partition ${partition}: checkpoint ${nextOffset}, ${replayed} records applied beyond it, ${lost} missing below it`
}

function row(what: string, measured: string | number, due: string, holds: boolean): ProofRow {
  return { what, measured, due, holds }
}
