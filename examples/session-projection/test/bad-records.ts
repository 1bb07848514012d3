import type { DispatchMessage } from '../src/backend/dispatch-writer.ts'
import { encodeDispatch, RECIPIENTS_MAX } from '../src/dispatch-record.ts'
import type { DispatchRecord } from '../src/dispatch-record.ts'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

/** A dispatch in partition 0. */
export function dispatchMessage(dispatch: Partial<DispatchRecord> = {}): DispatchMessage {
  const whole = { dispatchId: 'd', conversationId: 'c', createdAt: 1_000, recipients: ['ada'], ...dispatch }
  return { key: whole.conversationId, value: encodeDispatch(whole), partition: 0 }
}

function withFields(changes: Readonly<Record<string, unknown>>): Uint8Array {
  return bytes(
    JSON.stringify({ dispatchId: 'd', conversationId: 'bad', createdAt: 5, recipients: ['ada'], ...changes }),
  )
}

/** Every class of record that stands for no dispatch, with the reason that must be kept. */
export const badRecords: readonly (readonly [what: string, value: Uint8Array | null, reason: string])[] = [
  ['null value', null, 'the value is null'],
  ['not JSON', bytes('<xml/>'), 'the value is not JSON in UTF-8'],
  ['not UTF-8', Uint8Array.of(0xff, 0xfe, 0x7b), 'the value is not JSON in UTF-8'],
  ['not an object', bytes('"text"'), 'the value is not a JSON object'],
  ['no recipients', withFields({ recipients: [] }), 'recipients is empty'],
  [
    'too many recipients',
    withFields({ recipients: Array(RECIPIENTS_MAX + 1).fill('x') }),
    'recipients has 10001 entries, more than 10000',
  ],
  ['fractional time', withFields({ createdAt: 0.5 }), 'createdAt is not a whole number'],
  ['negative time', withFields({ createdAt: -1 }), 'createdAt is negative'],
  [
    'time in microseconds',
    withFields({ createdAt: 1_700_000_000_000_000 }),
    'createdAt is beyond the year 9999; is it in milliseconds?',
  ],
  ['empty conversation', withFields({ conversationId: '' }), 'conversationId is empty'],
  [
    'lone surrogate',
    bytes(String.raw`{"dispatchId":"d","conversationId":"\udc00","createdAt":5,"recipients":["ada"]}`),
    'conversationId holds a lone surrogate',
  ],
  ['empty recipient', withFields({ recipients: ['ada', ''] }), 'recipients[1] is empty'],
]
