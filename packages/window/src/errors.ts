import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

interface WindowErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_WINDOW_POLICY_INVALID: ErrorSpec<{
    /** In the order in which they stand in the policy. */
    readonly problems: readonly { readonly path: string; readonly code: string; readonly message: string }[]
  }>
}

/** Every error the window package can raise. Verdicts, quarantine reasons and policy problems are values and listed apart. */
export const windowErrors: ErrorCatalogue<WindowErrorSpecs> = defineErrors<WindowErrorSpecs>('WINDOW', {
  TM_WINDOW_POLICY_INVALID: {
    retriable: false,
    message: (d) =>
      `the policy has ${d.problems.length} ${d.problems.length === 1 ? 'problem' : 'problems'}: ` +
      d.problems.map(({ path, message }) => `${path}: ${message}`).join('; '),
    remedy: 'Repair every path the message names; the list is complete for what could be read.',
  },
})
