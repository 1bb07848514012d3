import { compareSessions } from '../proof/compare-sessions.ts'
import type { SessionComparison } from '../proof/compare-sessions.ts'
import { createLoggedSessions } from '../proof/logged-sessions.ts'
import type { LoggedSessions } from '../proof/logged-sessions.ts'
import { startProjectorProcess } from '../proof/projector-process.ts'
import type { LogLine, ProjectorExit, ProjectorProcess } from '../proof/projector-process.ts'
import { readCommitted } from '../proof/read-committed.ts'
import { replayWindows, storedPositions } from '../proof/replay-window.ts'
import type { ReplayWindow } from '../proof/replay-window.ts'
import type { DemoWorld } from './demo-world.ts'
import type { Narrator } from './narrator.ts'

const deadlineMs = 120_000

/** Starts the service of a world; its progress and its troubles are told, its debug lines are not. */
export function startProjector(world: DemoWorld, narrator: Narrator): ProjectorProcess {
  const script = import.meta.filename.replace(/demo[/\\][^/\\]+$/, `projector${import.meta.filename.slice(-3)}`)
  const onLine = ({ level, msg }: LogLine): void => {
    if (level >= 30 && !/^(?:starting|stopped|draining)$/.test(msg)) narrator.say(`projector: ${msg}`)
  }
  return startProjectorProcess({ script, args: world.projectorArgs, onLine })
}

/** Kills the service with SIGKILL once it has confirmed some steps, long before it is done. */
export async function killInTheMiddle(projector: ProjectorProcess, steps: number): Promise<ProjectorExit> {
  const confirmed = (): number => projector.lines.filter(({ msg }) => msg === 'step').length
  await projector.line(`through ${steps} steps`, () => confirmed() >= steps, deadlineMs)
  projector.signal('SIGKILL')
  return projector.exited
}

/** What the crash left: positions beside data, partition by partition. */
export async function inspectCrash(world: DemoWorld): Promise<readonly ReplayWindow[]> {
  const logged = await recompute(world)
  const backend = await world.openBackend()
  try {
    const stored = await backend.store.read({ topic: world.topic, partitionCount: undefined })
    return await replayWindows(logged.dispatches, storedPositions(stored), backend.data)
  } finally {
    await Promise.all([backend.log.close(), backend.store.close(), backend.close()])
  }
}

/** Waits until the service is ready, asks it for a user's sessions, and lets it drain. */
export async function askAndDrain(
  projector: ProjectorProcess,
  user: string,
  narrator: Narrator,
): Promise<ProjectorExit> {
  await projector.line('ready', ({ msg }) => msg.startsWith('ready:'), deadlineMs)
  const answer = await fetch(`${await projector.url(deadlineMs)}/sessions/${user}?limit=2`)
  narrator.say(`GET /sessions/${user}?limit=2 -> ${answer.status} ${await answer.text()}`)
  projector.signal('SIGTERM')
  return projector.exited
}

/** Recomputes the sessions from the log and compares them with the stored ones. */
export async function compareWithLog(
  world: DemoWorld,
  abortedUsers: Iterable<string>,
): Promise<{ readonly logged: LoggedSessions; readonly comparison: SessionComparison }> {
  const logged = await recompute(world)
  const backend = await world.openBackend()
  try {
    return { logged, comparison: await compareSessions(logged.sessions, backend.data, abortedUsers) }
  } finally {
    await Promise.all([backend.log.close(), backend.store.close(), backend.close()])
  }
}

async function recompute(world: DemoWorld): Promise<LoggedSessions> {
  const log = await world.openLog()
  try {
    const logged = createLoggedSessions()
    await readCommitted({ log, topic: world.topic, deadlineMs, visit: logged.take })
    return logged
  } finally {
    await log.close()
  }
}
