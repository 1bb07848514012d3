import type { StoredState } from '@tidemark/checkpoint'
import type { ProjectorExit } from '../proof/projector-process.ts'
import { startProjector } from './crash-and-resume.ts'
import type { DemoWorld } from './demo-world.ts'
import type { Narrator } from './narrator.ts'

/** A start over a topic that only has the old one's name. */
export interface RefusedStart {
  readonly exit: ProjectorExit
  readonly reasons: number
  /** Whether the stored positions are byte for byte what they were before. */
  readonly positionsUnchanged: boolean
}

/** Deletes the topic, creates another one of the same name with one partition less, and tries to go on. */
export async function recreateAndStart(
  world: DemoWorld,
  partitions: number,
  narrator: Narrator,
): Promise<RefusedStart> {
  const before = await readPositions(world)
  await world.deleteTopic()
  await world.createTopic(partitions)
  const projector = startProjector(world, narrator)
  const exit = await projector.exited
  narrator.say(projector.stderr().trim())
  const reasons = /^start refused for ([0-9]+) reason/m.exec(projector.stderr())?.[1]
  const after = await readPositions(world)
  return { exit, reasons: Number(reasons ?? 0), positionsUnchanged: before === after && before !== '' }
}

/** Meta and every checkpoint as text, so that a single changed byte shows. */
async function readPositions(world: DemoWorld): Promise<string> {
  const backend = await world.openBackend()
  try {
    const { meta, checkpoints }: StoredState = await backend.store.read({
      topic: world.topic,
      partitionCount: undefined,
    })
    return meta === undefined ? '' : JSON.stringify([meta, [...checkpoints].sort(([a], [b]) => a - b)])
  } finally {
    await Promise.all([backend.log.close(), backend.store.close(), backend.close()])
  }
}
