import { CommanderError } from 'commander'
import { cliErrors } from './errors.ts'
import { createCommandLine } from './command-line/command-line.ts'
import type { Finished } from './commands/finished.ts'
import { verdicts } from './verdicts.ts'
import type { CommandHost } from './host.ts'
import { createSecrets } from './places/secrets.ts'
import type { Secrets } from './places/secrets.ts'
import { renderError } from './render/render-error.ts'
import { styleOf, wantsColor } from './render/style.ts'
import { errorReport } from './reports/error-report.ts'
import type { CommandName } from './reports/report.ts'

/**
 * Runs one command line and gives its exit code; never rejects.
 *
 * The verdict goes to standard output, as text or as one JSON object; progress, and errors as text, go to standard
 * error. Promises: CLI-1 to CLI-9.
 */
export async function runTidemark(host: CommandHost): Promise<number> {
  const secrets = createSecrets()
  const { program, finished } = createCommandLine(host, { env: host.env, cwd: host.cwd, secrets })
  for (const command of [program, ...program.commands]) {
    command.exitOverride().configureOutput({
      writeOut: (text) => host.stdout.write(text),
      // Shown in the form of every other error, once it is known what kind was asked for.
      writeErr: () => undefined,
      getOutHelpWidth: () => host.stdout.columns ?? 100,
      getOutHasColors: () => wantsColor(host.stdout, host.env),
    })
  }
  try {
    await program.parseAsync([...host.argv], { from: 'user' })
    const outcome = finished()
    return outcome === undefined ? 0 : show(host, outcome)
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0
    return showError(host, error instanceof CommanderError ? usageError(error) : error, secrets)
  }
}

/** The verdict, as it was asked for. */
function show(host: CommandHost, { report, render }: Finished): number {
  if (host.argv.includes('--json')) host.stdout.write(`${JSON.stringify(report)}\n`)
  else host.stdout.write(`${render(styleOf(wantsColor(host.stdout, host.env))).join('\n')}\n`)
  return report.exitCode
}

/** An error: for people on standard error, for programs where every other answer is. */
function showError(host: CommandHost, error: unknown, secrets: Secrets): number {
  const report = errorReport(commandOf(host.argv), error, secrets)
  if (host.argv.includes('--json')) host.stdout.write(`${JSON.stringify(report)}\n`)
  else host.stderr.write(`${renderError(report, styleOf(wantsColor(host.stderr, host.env))).join('\n')}\n`)
  return report.exitCode
}

/** Commander's complaint as an error of ours. A value given to an option that does not exist may be a secret. */
function usageError(error: CommanderError): Error {
  const asked = error.code === 'commander.help'
  const text = asked ? `no command is named; commands: ${commandNames.join(', ')}` : error.message
  const reason = text
    .replace(/^error: /, '')
    .replaceAll(/(--[a-zA-Z0-9-]+)=[^\s']*/g, '$1=***')
    .replaceAll(/\s+/g, ' ')
  return cliErrors.create('TM_CLI_USAGE', { reason })
}

const commandNames: readonly CommandName[] = ['explain', 'inspect', 'verify', 'rebuild']

/** The command that was meant, for the report of an error; `explain` stands for none. */
function commandOf(argv: readonly string[]): CommandName {
  return commandNames.find((name) => argv.includes(name)) ?? 'explain'
}

/** The exit code of an interruption that nothing waited for. */
export const INTERRUPTED: number = verdicts.interrupted.exitCode
