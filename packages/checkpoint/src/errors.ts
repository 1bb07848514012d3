import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorSpec } from '@tidemark/core'

interface CheckpointErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_CHECKPOINT_NAMESPACE_INVALID: ErrorSpec<{ readonly namespace: string }>
  readonly TM_CHECKPOINT_TOPIC_INVALID: ErrorSpec<{ readonly topic: string }>
  readonly TM_CHECKPOINT_OPTION_INVALID: ErrorSpec<{ readonly option: string; readonly reason: string }>
  readonly TM_CHECKPOINT_WRITE_INVALID: ErrorSpec<{
    readonly op: string
    readonly key: string
    readonly reason: string
  }>
  readonly TM_CHECKPOINT_ALREADY_STARTED: ErrorSpec<{ readonly state: string }>
  readonly TM_CHECKPOINT_START_FAILED: ErrorSpec<{
    readonly topic: string
    readonly step: string
    readonly reason: string
  }>
  readonly TM_CHECKPOINT_VERIFY_FAILED: ErrorSpec<{ readonly topic: string; readonly reason: string }>
}

/** Every error the checkpoint package can raise. Refusals and dirty reasons are values and listed apart. */
export const checkpointErrors: ErrorCatalogue<CheckpointErrorSpecs> = defineErrors<CheckpointErrorSpecs>('CHECKPOINT', {
  TM_CHECKPOINT_NAMESPACE_INVALID: {
    retriable: false,
    message: (d) => `namespace "${d.namespace}" is not usable`,
    remedy: 'Use 1 to 200 letters, digits, dots, dashes, underscores or inner colons; no braces.',
  },
  TM_CHECKPOINT_TOPIC_INVALID: {
    retriable: false,
    message: (d) => `topic name "${d.topic}" is not one Kafka allows`,
    remedy: 'Use 1 to 249 letters, digits, dots, dashes or underscores.',
  },
  TM_CHECKPOINT_OPTION_INVALID: {
    retriable: false,
    message: (d) => `option ${d.option}: ${d.reason}`,
    remedy: 'State the option as its documentation says; what decides correctness has no default.',
  },
  TM_CHECKPOINT_WRITE_INVALID: {
    retriable: false,
    message: (d) => `${d.op} on key "${d.key}": ${d.reason}`,
    remedy:
      'Check the value when decoding the record and return undecodable(reason) for records that cannot be written.',
  },
  TM_CHECKPOINT_ALREADY_STARTED: {
    retriable: false,
    message: (d) => `a projection starts once; this one is ${d.state}`,
    remedy: 'Create a new projection for every start.',
  },
  TM_CHECKPOINT_START_FAILED: {
    retriable: true,
    message: (d) => `start of the projection of ${d.topic} failed while ${d.step}: ${d.reason}`,
    remedy:
      'Check the address, credentials and permissions of the service named; no position has moved and no data was written.',
  },
  TM_CHECKPOINT_VERIFY_FAILED: {
    retriable: false,
    message: (d) => `the projection of ${d.topic} cannot be verified: ${d.reason}`,
    remedy: 'Verification recomputes from offset 0; it needs the full history and an unchanged identity.',
  },
})
