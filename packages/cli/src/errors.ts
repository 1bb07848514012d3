import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

interface CliErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_CLI_USAGE: ErrorSpec<{ readonly reason: string }>
  readonly TM_CLI_SECRET_ON_COMMAND_LINE: ErrorSpec<{ readonly option: string; readonly variable: string }>
  readonly TM_CLI_FILE_UNREADABLE: ErrorSpec<{
    readonly what: string
    readonly file: string
    readonly reason: string
  }>
  readonly TM_CLI_PROJECT_INVALID: ErrorSpec<{ readonly file: string; readonly reason: string }>
  readonly TM_CLI_PROJECT_FAILED: ErrorSpec<{ readonly file: string; readonly reason: string }>
  readonly TM_CLI_CONFIRMATION_MISMATCH: ErrorSpec<{ readonly given: string; readonly due: string }>
  readonly TM_CLI_PLACE_OF_OTHER_KIND: ErrorSpec<{
    readonly said: string
    readonly due: string
    readonly address: string
    readonly found: string
    readonly instead: string
  }>
  readonly TM_CLI_CLIENT_MISSING: ErrorSpec<{ readonly place: string; readonly reason: string }>
}

/** Every error that the command itself can raise; those of the packages it composes keep their own codes. */
export const cliErrors: ErrorCatalogue<CliErrorSpecs> = defineErrors<CliErrorSpecs>('CLI', {
  TM_CLI_USAGE: {
    retriable: false,
    message: (d) => d.reason,
    remedy: 'Correct the command line; `tidemark <command> --help` lists every option. Nothing was connected.',
  },
  TM_CLI_SECRET_ON_COMMAND_LINE: {
    retriable: false,
    message: (d) => `${d.option} holds a password, which every user of this machine could read`,
    remedy: 'Give the address without its password, and the password in the environment variable that the page names.',
  },
  TM_CLI_FILE_UNREADABLE: {
    retriable: false,
    message: (d) => `${d.what} ${d.file} cannot be used: ${d.reason}`,
    remedy: 'Correct the path or the contents of the file; nothing was connected.',
  },
  TM_CLI_PROJECT_INVALID: {
    retriable: false,
    message: (d) => `the project module ${d.file} cannot be used: ${d.reason}`,
    remedy: 'Export the projection function of the service as `project`, or name its export by --export.',
  },
  TM_CLI_PROJECT_FAILED: {
    retriable: false,
    message: (d) => `the projection function of ${d.file} threw: ${d.reason}`,
    remedy: 'Fix the function; for records that cannot be projected it returns undecodable(reason).',
  },
  TM_CLI_CONFIRMATION_MISMATCH: {
    retriable: false,
    message: (d) => `--execute names "${d.given}", the rebuild goes into "${d.due}"`,
    remedy: 'Repeat the new namespace after --execute, letter by letter. Nothing was written.',
  },
  TM_CLI_PLACE_OF_OTHER_KIND: {
    retriable: false,
    message: (d) => `${d.said} is for ${d.due}, and at ${d.address} is ${d.found}: name it by ${d.instead}`,
    remedy: 'Name the place by the option of its kind, as the service opens it. Nothing was written.',
  },
  TM_CLI_CLIENT_MISSING: {
    retriable: false,
    message: (d) => `what ${d.place} needs is not installed: ${d.reason}`,
    remedy: 'Install the package named beside @tidemark/cli.',
  },
})
