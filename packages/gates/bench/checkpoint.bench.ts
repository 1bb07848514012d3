// What the checkpoint costs, on a real Kafka and a real Redis: `npm run bench -- checkpoint [metric…] [--quick]`.
// Prints a JSON object a line; peers run in the same process and the same rounds, in alternating order.
import { isPure, readCommand } from './checkpoint/bench-settings.ts'
import { runPureCosts } from './checkpoint/run-pure-costs.ts'

const command = readCommand(process.argv.slice(2))
if (command.kind === 'unknown') {
  process.stderr.write(`${command.reason}\n`)
  process.exitCode = 1
} else {
  const { settings, metrics } = command
  if ([...metrics].some(isPure)) await runPureCosts(process.argv.slice(2))
  if (![...metrics].every(isPure)) {
    // What needs no service can be measured where there is no client for one.
    const { benchOnServices } = await import('./checkpoint/service-costs.ts')
    await benchOnServices(settings, metrics)
  }
}
