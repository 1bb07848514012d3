import { setTimeout as sleep } from 'node:timers/promises'
import type { Offset } from '@tidemark/core'
import type { DispatchMessage, DispatchWriter } from '../src/backend/dispatch-writer.ts'
import type { CommittedLog } from '@tidemark/log'
import type { SessionStore } from '../src/backend/store/session-store.ts'
import { compareSessions } from '../src/proof/compare-sessions.ts'
import type { SessionComparison } from '../src/proof/compare-sessions.ts'
import { createDispatchSource } from '../src/proof/dispatch-source.ts'
import { createLoggedSessions } from '../src/proof/logged-sessions.ts'
import type { LoggedSessions } from '../src/proof/logged-sessions.ts'
import { startProjectorProcess } from '../src/proof/projector-process.ts'
import type { ProjectorExit, ProjectorProcess } from '../src/proof/projector-process.ts'
import { readCommitted } from '../src/proof/read-committed.ts'
import { replayWindows, storedPositions } from '../src/proof/replay-window.ts'
import type { ReplayWindow } from '../src/proof/replay-window.ts'
import type { Session } from '../src/service/session-reader.ts'
import type { StoreProfile } from '../src/service/store-profile.ts'
import { badRecords } from './bad-records.ts'

/** What a kill loop runs on. */
export interface KillLoopOptions {
  readonly kills: number
  readonly seed: number
  readonly script: string
  readonly args: readonly string[]
  readonly topic: string
  readonly batchRecordsMax: number
  readonly writer: DispatchWriter
  readonly log: CommittedLog
  /** Opened after every kill and closed again: a store in files has one holder at a time. */
  readonly openStore: () => Promise<SessionStore>
}

/** What was measured. Units: records. */
export interface KillLoopReport {
  readonly kills: number
  readonly committed: number
  readonly undecodable: number
  /** How many kills hit a projector that had confirmed steps in that life. */
  readonly killsWhileApplying: number
  /** Records that single kills left missing below a checkpoint, whatever became of them later. */
  readonly lostAtKills: number
  readonly replayedTotal: number
  readonly replayedMax: number
  /** Problems found after single kills: a lost record, too long a replay, a position that went back. */
  readonly faults: readonly string[]
  /** The final state beside the log. */
  readonly comparison: SessionComparison
  readonly quarantined: number
  /** What the last projector, which was let catch up, served over HTTP that is not what the log says. */
  readonly servedWrongly: readonly string[]
  /** What a confirmed step survives, as the last projector said. */
  readonly durability: string
  readonly lastExit: ProjectorExit
  readonly tookMs: number
  /** Of it: from the start of a process to its end, and looking at what it left. */
  readonly livingMs: number
  readonly lookingMs: number
}

/** Far above what an idle machine needs: a PGlite that is created on a busy one takes minutes. */
const deadlineMs = 300_000
const backlogMax = 1_500

/** Kills a projector again and again while a producer writes, looking at what each kill left. */
export async function runKillLoop(options: KillLoopOptions): Promise<KillLoopReport> {
  const startedAt = performance.now()
  const random = mulberry32(options.seed)
  const logged = createLoggedSessions()
  let ends: ReadonlyMap<number, Offset> = new Map()
  let positions: ReadonlyMap<number, Offset> = new Map()
  const faults: string[] = []
  const seen: ReplayWindow[] = []
  let [killsWhileApplying, livingMs, lookingMs] = [0, 0, 0]
  let applied = 0
  const producing = startProducing(options.writer, random, () => applied)
  try {
    for (let kill = 1; kill <= options.kills; kill += 1) {
      // Every fourth dies while starting.
      const bornAt = performance.now()
      const life = await liveAndDie(options, random, kill % 4 === 0, producing.failed)
      faults.push(...life.faults.map((fault) => `kill ${kill}: ${fault}`))
      if (life.confirmedSteps > 0) killsWhileApplying += 1

      const diedAt = performance.now()
      livingMs += diedAt - bornAt
      const opened = await options.openStore()
      try {
        // Positions first: a command that the server still had in its socket can then only look like a replay.
        const stored = await opened.store.read({ topic: options.topic, partitionCount: undefined })
        const found = storedPositions(stored)
        const reading = { log: options.log, topic: options.topic, deadlineMs, from: ends, visit: logged.take }
        ends = (await readCommitted(reading)).ends
        const suspects = logged.dispatches.filter(({ partition, offset }) => offset >= (positions.get(partition) ?? 0n))
        const windows = await replayWindows(suspects, found, opened.data)
        faults.push(...faultsOf(windows, positions, options.batchRecordsMax).map((fault) => `kill ${kill}: ${fault}`))
        seen.push(...windows)
        positions = found
        applied = logged.dispatches.filter(({ partition, offset }) => offset < (found.get(partition) ?? 0n)).length
      } finally {
        await closeStore(opened)
      }
      lookingMs += performance.now() - diedAt
    }
  } catch (error) {
    producing.giveUp()
    throw error
  }
  const { abortedUsers } = await producing.stop()
  await readCommitted({ log: options.log, topic: options.topic, deadlineMs, from: ends, visit: logged.take })
  const last = await catchUpAndDrain(options, logged)
  const opened = await options.openStore()
  try {
    const comparison = await compareSessions(logged.sessions, opened.data, abortedUsers)
    const { quarantined } = await opened.store.read({ topic: options.topic, partitionCount: undefined })
    return {
      kills: options.kills,
      committed: logged.dispatches.length,
      undecodable: logged.undecodable,
      ...{ killsWhileApplying, faults, comparison, livingMs, lookingMs, ...last },
      lostAtKills: seen.reduce((sum, { lost }) => sum + lost, 0),
      replayedTotal: seen.reduce((sum, { replayed }) => sum + replayed, 0),
      replayedMax: Math.max(0, ...seen.map(({ replayed }) => replayed)),
      quarantined: [...quarantined.values()].reduce((sum, count) => sum + count, 0),
      tookMs: performance.now() - startedAt,
    }
  } finally {
    await closeStore(opened)
  }
}

/** One process from its start to its kill: while it starts, wherever that is, or after some steps of this life. */
async function liveAndDie(
  options: KillLoopOptions,
  random: () => number,
  whileStarting: boolean,
  producingFailed: Promise<never>,
) {
  const projector = startProjectorProcess({ script: options.script, args: options.args })
  try {
    if (whileStarting) {
      await sleep(random() * 1_500)
    } else {
      const steps = 1 + Math.floor(random() * 60)
      const through = projector.line(`through ${steps} steps`, () => confirmedSteps(projector) >= steps, deadlineMs)
      await Promise.race([producingFailed, through])
      await sleep(random() * 20)
    }
  } finally {
    projector.signal('SIGKILL')
  }
  const { code, signal } = await projector.exited
  const faults = signal === 'SIGKILL' ? [] : [`it ended by itself: ${code}, ${projector.stderr()}`]
  return { faults, confirmedSteps: confirmedSteps(projector) }
}

/** What one kill left that it must not leave. */
function faultsOf(
  windows: readonly ReplayWindow[],
  before: ReadonlyMap<number, Offset>,
  batchRecordsMax: number,
): readonly string[] {
  return windows.flatMap(({ partition, nextOffset, replayed, lost }) => {
    const last = before.get(partition) ?? 0n
    return [
      ...(lost > 0 ? [`${lost} records below ${nextOffset} of partition ${partition} are missing`] : []),
      ...(nextOffset < last ? [`partition ${partition} went back from ${last} to ${nextOffset}`] : []),
      ...(replayed > batchRecordsMax ? [`${replayed} records of partition ${partition} replay`] : []),
    ]
  })
}

async function closeStore({ store, close }: SessionStore): Promise<void> {
  await store.close()
  await close()
}

/** Nothing is written any more: what a projector serves when it is ready is what the log says, to the last record. */
async function catchUpAndDrain(
  options: KillLoopOptions,
  logged: LoggedSessions,
): Promise<Pick<KillLoopReport, 'servedWrongly' | 'durability' | 'lastExit'>> {
  const projector = startProjectorProcess({ script: options.script, args: options.args })
  await projector.line('ready', ({ msg }) => msg.startsWith('ready:'), deadlineMs)
  const told = await projector.line('told what its store is', ({ msg }) => msg.startsWith('store:'), deadlineMs)
  const url = await projector.url(deadlineMs)
  const servedWrongly: string[] = []
  for (const [user, due] of [...logged.sessions].slice(0, 5)) {
    const answer = await fetch(`${url}/sessions/${encodeURIComponent(user)}?limit=1000`)
    const { sessions = [] } = (await answer.json()) as { sessions?: readonly Session[] }
    const served = new Map(sessions.map(({ conversationId, lastDispatchAt }) => [conversationId, lastDispatchAt]))
    const same = served.size === due.size && [...due].every(([id, time]) => served.get(id) === time)
    if (!same) servedWrongly.push(`${user}: ${answer.status}, ${served.size} sessions of ${due.size}`)
  }
  projector.signal('SIGTERM')
  const { durability } = told['store'] as StoreProfile
  return { servedWrongly, durability, lastExit: await projector.exited }
}

function confirmedSteps(projector: ProjectorProcess): number {
  return projector.lines.filter(({ msg }) => msg === 'step').length
}

/** Writes without a pause but for a bounded backlog: committed and aborted transactions, and a damaged record now and then. */
function startProducing(writer: DispatchWriter, random: () => number, applied: () => number) {
  const source = createDispatchSource({ users: 300, startMs: 1_700_000_000_000, random })
  let over = false
  let written = 0
  const producing = (async () => {
    for (let transaction = 1; !over; transaction += 1) {
      const [, damaged] = badRecords[transaction % badRecords.length]!
      const bad: DispatchMessage = { key: `bad-${transaction}`, value: damaged }
      const messages = source.next(20)
      await writer.write(transaction % 7 === 0 ? [...messages, bad] : messages, 'commit')
      written += messages.length
      if (transaction % 5 === 0) await writer.write(source.nextAborted(10), 'abort')
      do await sleep(25)
      while (!over && written - applied() > backlogMax)
    }
  })()
  // A life that waits for records that nobody writes any more would wait in vain.
  const failed = new Promise<never>((_, reject) => producing.catch(reject))
  failed.catch(() => undefined)
  return {
    failed,
    giveUp() {
      over = true
    },
    async stop() {
      over = true
      await producing
      return source
    },
  }
}

/** A small seeded generator: the same seed gives the same kill times and records. */
function mulberry32(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
