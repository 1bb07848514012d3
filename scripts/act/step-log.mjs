import { UsageError } from '../plan/usage-error.mjs'

/** Seconds for a person. */
export function seconds(durationMs) {
  return durationMs < 9_950 ? `${(durationMs / 1000).toFixed(1)} s` : `${Math.round(durationMs / 1000)} s`
}

/** An error that a person can act on: printed without a stack trace. */
export class StepError extends Error {
  constructor(message, remedy) {
    super(message)
    this.name = 'StepError'
    this.remedy = remedy
  }
}

/**
 * Runs one step: says what it does, then how long it took and what came out.
 *
 * `work` may return a short text such as `already done`.
 */
export async function step(name, work) {
  const from = performance.now()
  process.stdout.write(`- ${name}\n`)
  const outcome = await work()
  process.stdout.write(`  ${outcome ?? 'done'} (${seconds(performance.now() - from)})\n`)
}

/** Runs a script's main function: a StepError ends it with its message and remedy, any other error with its stack. */
export async function runMain(main) {
  try {
    process.exitCode = (await main()) ?? 0
  } catch (error) {
    if (error instanceof StepError) {
      process.stderr.write(`\n${error.message}\n${error.remedy === undefined ? '' : `what helps: ${error.remedy}\n`}`)
    } else if (error instanceof UsageError) {
      process.stderr.write(`${error.message}\n`)
    } else {
      process.stderr.write(`\n${error?.stack ?? error}\n`)
    }
    process.exitCode = 1
  }
}
