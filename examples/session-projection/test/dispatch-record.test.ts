import { isUndecodable } from '@tidemark/checkpoint'
import { describe, expect, it } from 'vitest'
import {
  CREATED_AT_MAX_MS,
  decodeDispatch,
  encodeDispatch,
  ID_BYTES_MAX,
  RECIPIENTS_MAX,
} from '../src/dispatch-record.ts'
import type { DispatchRecord } from '../src/dispatch-record.ts'

const good: DispatchRecord = {
  dispatchId: 'd1',
  conversationId: 'c1',
  createdAt: 1_700_000_000_000,
  recipients: ['ada', 'bob'],
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function withFields(changes: Readonly<Record<string, unknown>>): Uint8Array {
  return bytes(JSON.stringify({ ...good, ...changes }))
}

function reasonOf(value: Uint8Array | null): string {
  const decoded = decodeDispatch(value)
  if (!isUndecodable(decoded)) throw new Error(`decoded to ${JSON.stringify(decoded)}`)
  return decoded.reason
}

describe('decodeDispatch', () => {
  it('gives back what encodeDispatch wrote', () => {
    expect(decodeDispatch(encodeDispatch(good))).toEqual(good)
  })

  it('allows fields that a newer producer added', () => {
    const decoded = decodeDispatch(withFields({ channel: 'sms' }))
    expect(decoded).toEqual(good)
  })

  it.each([
    ['colons', 'a:b:c'],
    ['braces', '{a}:{b}'],
    ['newlines and NUL', 'a\r\nb\u0000c'],
    ['emoji', '👩‍👩‍👧‍👦🏴‍☠️'],
    ['the name of a prototype', '__proto__'],
    ['the longest id', 'x'.repeat(ID_BYTES_MAX)],
  ])('takes ids with %s as they are', (_what, id) => {
    const dispatch = { ...good, dispatchId: id, conversationId: id, recipients: [id, 'ada', id] }
    expect(decodeDispatch(encodeDispatch(dispatch))).toEqual(dispatch)
  })

  it(`takes ${RECIPIENTS_MAX} recipients, and not one more`, () => {
    const recipients = Array.from({ length: RECIPIENTS_MAX }, (_, index) => `user-${index}`)
    expect(decodeDispatch(encodeDispatch({ ...good, recipients }))).toEqual({ ...good, recipients })
    expect(reasonOf(withFields({ recipients: [...recipients, 'one more'] }))).toBe(
      'recipients has 10001 entries, more than 10000',
    )
  })

  it.each([0, 1, CREATED_AT_MAX_MS])('takes the time %d', (createdAt) => {
    expect(decodeDispatch(withFields({ createdAt }))).toEqual({ ...good, createdAt })
  })

  it.each([
    ['a null value', null, 'the value is null'],
    ['an empty value', bytes(''), 'the value is not JSON in UTF-8'],
    ['broken JSON', bytes('{"dispatchId":'), 'the value is not JSON in UTF-8'],
    ['trailing bytes', bytes('{} {}'), 'the value is not JSON in UTF-8'],
    ['a byte order mark', bytes('\uFEFF{}'), 'the value is not JSON in UTF-8'],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xc3, 0x28, 0x22), 'the value is not JSON in UTF-8'],
    ['a list', bytes('[]'), 'the value is not a JSON object'],
    ['the word null', bytes('null'), 'the value is not a JSON object'],
    ['a number', bytes('7'), 'the value is not a JSON object'],
    ['no dispatch id', withFields({ dispatchId: undefined }), 'dispatchId is missing'],
    ['an empty dispatch id', withFields({ dispatchId: '' }), 'dispatchId is empty'],
    ['a number as conversation id', withFields({ conversationId: 5 }), 'conversationId is not a string'],
    [
      'a lone surrogate',
      bytes(String.raw`{"dispatchId":"d","conversationId":"\ud800"}`),
      'conversationId holds a lone surrogate',
    ],
    [
      'too long an id',
      withFields({ conversationId: 'é'.repeat(ID_BYTES_MAX / 2 + 1) }),
      'conversationId is longer than 1024 bytes',
    ],
    ['no time', withFields({ createdAt: undefined }), 'createdAt is missing'],
    ['a time as text', withFields({ createdAt: '1700000000000' }), 'createdAt is not a whole number'],
    ['a fraction of a millisecond', withFields({ createdAt: 1.5 }), 'createdAt is not a whole number'],
    [
      'a time beyond exact numbers',
      bytes('{"dispatchId":"d","conversationId":"c","createdAt":1e300,"recipients":["a"]}'),
      'createdAt is not a whole number',
    ],
    ['a time before 1970', withFields({ createdAt: -1 }), 'createdAt is negative'],
    [
      'microseconds',
      withFields({ createdAt: 1_700_000_000_000_000 }),
      'createdAt is beyond the year 9999; is it in milliseconds?',
    ],
    ['no recipients field', withFields({ recipients: undefined }), 'recipients is missing'],
    ['one recipient as text', withFields({ recipients: 'ada' }), 'recipients is not a list'],
    ['nobody', withFields({ recipients: [] }), 'recipients is empty'],
    ['an empty recipient', withFields({ recipients: ['ada', ''] }), 'recipients[1] is empty'],
    ['a null recipient', withFields({ recipients: [null] }), 'recipients[0] is not a string'],
  ])('calls %s undecodable, and says why', (_what, value, reason) => {
    expect(reasonOf(value)).toBe(reason)
  })

  it('never quotes the payload in a reason', () => {
    for (const value of [bytes('top-secret'), withFields({ recipients: ['top-secret', 7] })]) {
      expect(reasonOf(value)).not.toContain('top-secret')
    }
  })
})
