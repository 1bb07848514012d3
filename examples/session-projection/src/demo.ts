// Shows what the library is for: a projection that is killed, resumes without a gap, and refuses a log that is not its own.
import { messageOf } from '@tidemark/core'
import { chooseDemoWorld } from './demo/demo-world.ts'
import { createNarrator } from './demo/narrator.ts'
import { renderProof } from './demo/proof-table.ts'
import { runDemo } from './demo/run-demo.ts'
import { exitCodes } from './service/exit-codes.ts'
import type { ExitCode } from './service/exit-codes.ts'

process.exit(await main())

async function main(): Promise<ExitCode> {
  const narrator = createNarrator((line) => process.stdout.write(`${line}\n`))
  try {
    const world = chooseDemoWorld(process.argv.slice(2), process.env)
    process.stdout.write(`session projection, ${world.title}\n`)
    try {
      const rows = await runDemo(world, narrator)
      narrator.step('Proof')
      const proof = renderProof(rows)
      narrator.say(proof.text)
      return proof.holds ? exitCodes.ok : exitCodes.failed
    } finally {
      await world.cleanUp()
    }
  } catch (error) {
    process.stderr.write(`the demo could not go on: ${messageOf(error)}\n`)
    return exitCodes.failed
  }
}
