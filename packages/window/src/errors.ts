import { defineErrors } from '@tidemark/core'
import type { ErrorCatalogue, ErrorDetails, ErrorSpec } from '@tidemark/core'
import { placeOf } from './envelope/input-partition.ts'

interface WindowErrorSpecs extends Readonly<Record<string, ErrorSpec>> {
  readonly TM_WINDOW_POLICY_INVALID: ErrorSpec<{
    /** In the order in which they stand in the policy. */
    readonly problems: readonly { readonly path: string; readonly code: string; readonly message: string }[]
  }>
  readonly TM_WINDOW_POLICY_DAMAGED: ErrorSpec<{
    readonly where: string
    readonly businessStream: string
    readonly generation: number
    readonly fields: readonly string[]
  }>
  readonly TM_WINDOW_REGISTRY_FULL: ErrorSpec<{
    readonly businessStream: string
    readonly generation: number
    readonly generationsMax: number
  }>
  readonly TM_WINDOW_ZONE_UNKNOWN: ErrorSpec<{ readonly zone: string; readonly zoneData: string }>
  readonly TM_WINDOW_ZONE_DATA_UNREADABLE: ErrorSpec<{ readonly zone: string; readonly reason: string }>
  readonly TM_WINDOW_SHAPE_INVALID: ErrorSpec<{
    readonly field: string
    readonly value: string
    readonly reason: string
  }>
  readonly TM_WINDOW_AGGREGATE_DECLARATION_INVALID: ErrorSpec<{
    readonly aggregate: string
    readonly field: string
    readonly reason: string
  }>
  readonly TM_WINDOW_AGGREGATE_THREW: ErrorSpec<AggregateFault>
  readonly TM_WINDOW_AGGREGATE_VALUE_INVALID: ErrorSpec<AggregateFault & { readonly path: string }>
  readonly TM_WINDOW_AGGREGATE_RETRACT_UNMATCHED: ErrorSpec<AggregateFault>
  readonly TM_WINDOW_AGGREGATE_OVERFLOW: ErrorSpec<AggregateFault>
  readonly TM_WINDOW_AGGREGATE_FULL: ErrorSpec<{
    readonly aggregate: string
    readonly operation: string
    readonly valuesMax: number
  }>
  readonly TM_WINDOW_OPTION_INVALID: ErrorSpec<{ readonly option: string; readonly reason: string }>
  readonly TM_WINDOW_STATE_INVALID: ErrorSpec<{
    readonly part: string
    readonly problems: readonly { readonly path: string; readonly message: string }[]
  }>
  readonly TM_WINDOW_HANDOVER_REFUSED: ErrorSpec<{ readonly reason: string }>
  readonly TM_WINDOW_ENVELOPE_MISPLACED: ErrorSpec<
    InputPlace & { readonly offset: string; readonly field: string; readonly found: string }
  >
  readonly TM_WINDOW_RECORD_AFTER_FINISHED: ErrorSpec<InputPlace>
}

/** One partition of one generation. */
export interface InputPlace extends ErrorDetails {
  readonly source: string
  readonly partition: number
  readonly generation: number
}

/** Which operation of which aggregate, as `name@version`, and why. */
export interface AggregateFault extends ErrorDetails {
  readonly aggregate: string
  readonly operation: string
  readonly reason: string
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
  TM_WINDOW_POLICY_DAMAGED: {
    retriable: false,
    message: (d) =>
      `the policy of ${JSON.stringify(d.businessStream)} generation ${d.generation} in ${d.where} does not have the ` +
      `digests stored with it: ${d.fields.join(', ')}`,
    remedy: 'Restore the stored policy from a copy that is whole; digests are computed, never typed in.',
  },
  TM_WINDOW_REGISTRY_FULL: {
    retriable: false,
    message: (d) =>
      `generation ${d.generation} of ${JSON.stringify(d.businessStream)} was not registered: ` +
      `${d.generationsMax} generations are there`,
    remedy: 'Raise generationsMax; a generation that was registered is never dropped.',
  },
  TM_WINDOW_ZONE_UNKNOWN: {
    retriable: false,
    message: (d) => `zone ${d.zone} is not one of the pinned zone data (${d.zoneData})`,
    remedy:
      'Name an IANA zone as it is spelled there, for example Europe/Berlin; offsets and abbreviations are no zones.',
  },
  TM_WINDOW_ZONE_DATA_UNREADABLE: {
    retriable: false,
    message: (d) => `the zone data of ${d.zone} cannot be read: ${d.reason}`,
    remedy: 'Install the pinned @js-joda/core and @js-joda/timezone, once each, and load no other zone data into them.',
  },
  TM_WINDOW_SHAPE_INVALID: {
    retriable: false,
    message: (d) => `window ${d.field} is ${d.value}: ${d.reason}`,
    remedy: 'Build assigners from a policy that was parsed; the parser names such faults with their paths.',
  },
  TM_WINDOW_AGGREGATE_DECLARATION_INVALID: {
    retriable: false,
    message: (d) => `aggregate ${d.aggregate}: ${d.field} ${d.reason}`,
    remedy: 'Repair the declaration; nothing was computed with it.',
  },
  TM_WINDOW_AGGREGATE_THREW: {
    retriable: false,
    message: (d) => `aggregate ${d.aggregate} threw in ${d.operation}: ${d.reason}`,
    remedy:
      'Repair the function and raise its version; an event it cannot take belongs into quarantine before it gets there.',
  },
  TM_WINDOW_AGGREGATE_VALUE_INVALID: {
    retriable: false,
    message: (d) => `aggregate ${d.aggregate} in ${d.operation}, value at ${d.path}: ${d.reason}`,
    remedy: 'Give safe integers, well-formed strings or decimal strings of the said scale; round before, never inside.',
  },
  TM_WINDOW_AGGREGATE_RETRACT_UNMATCHED: {
    retriable: false,
    message: (d) => `aggregate ${d.aggregate} in ${d.operation}: ${d.reason}`,
    remedy: 'Look for the addition that is missing: a change was taken back that this window never took.',
  },
  TM_WINDOW_AGGREGATE_OVERFLOW: {
    retriable: false,
    message: (d) => `aggregate ${d.aggregate} in ${d.operation}: ${d.reason}`,
    remedy: 'Use the decimal sum, whose result is text and has no largest value.',
  },
  TM_WINDOW_AGGREGATE_FULL: {
    retriable: false,
    message: (d) => `aggregate ${d.aggregate} in ${d.operation}: already holds ${d.valuesMax} different values`,
    remedy: 'Raise valuesMax with the memory in mind, narrow the key or the window, or keep only the extreme.',
  },
  TM_WINDOW_OPTION_INVALID: {
    retriable: false,
    message: (d) => `option ${d.option}: ${d.reason}`,
    remedy: 'Build frontier and positions from a policy that was parsed and from offsets that were read.',
  },
  TM_WINDOW_STATE_INVALID: {
    retriable: false,
    message: (d) =>
      `stored ${d.part} cannot be restored: ${d.problems.map(({ path, message }) => `${path}: ${message}`).join('; ')}`,
    remedy:
      'Restore the last cut that is whole, or replay under a new generation; repaired by hand, state proves nothing.',
  },
  TM_WINDOW_HANDOVER_REFUSED: {
    retriable: false,
    message: (d) => `the frontier cannot be handed over: ${d.reason}`,
    remedy: 'Begin the new generation as a replay.',
  },
  TM_WINDOW_ENVELOPE_MISPLACED: {
    retriable: false,
    message: (d) =>
      `a record given for ${placeOf(d)} at offset ${d.offset} does not stand there: its ${d.field} is ${d.found}`,
    remedy: 'Repair the adapter; a record without a place cannot be counted. Nothing was taken.',
  },
  TM_WINDOW_RECORD_AFTER_FINISHED: {
    retriable: false,
    message: (d) => `${placeOf(d)} brought something after it was marked finished`,
    remedy: 'Send the finished mark only for an input that can never grow again; begin a new generation to read on.',
  },
})
