// The costs of pure code as a process of its own, compiled: `run-pure-costs.ts` starts it with the command line of the bench.
import { readCommand } from './bench-settings.ts'
import { benchCodec, benchPlanner } from './pure-costs.ts'

/** A function within a function; a compiler that keeps names wraps the inner one in a call. */
const nesting = (): (() => number) => {
  const inner = (): number => 1
  return inner
}

if (nesting.toString().includes('__name')) {
  throw new Error('the compiler keeps names, which slows down what is measured; run it compiled by run-pure-costs.ts')
}
const command = readCommand(process.argv.slice(2))
if (command.kind === 'unknown') throw new Error(command.reason)
const { settings, metrics } = command
if (metrics.has('planner')) benchPlanner(settings.verdictPartitions, settings.rounds)
if (metrics.has('codec')) benchCodec()
