import { coreErrors, defineErrors, invariant, isTidemarkError, messageOf, TidemarkError } from '@tidemark/core'
import type { ErrorSpec } from '@tidemark/core'
import { describe, expect, it } from 'vitest'

const example = coreErrors.create(
  'TM_CORE_OFFSET_INVALID',
  { value: '-1', where: 'test' },
  { cause: new Error('below') },
)

describe('errors', () => {
  it('[COR-8] are recognised by brand and code, also from another copy of the package', () => {
    expect(isTidemarkError(example)).toBe(true)
    expect(isTidemarkError(example, 'TM_CORE_OFFSET_INVALID')).toBe(true)
    expect(isTidemarkError(example, 'TM_CORE_CANCELLED')).toBe(false)
    const copy = Object.assign(new Error('x'), { [Symbol.for('tidemark.error')]: true, code: 'TM_CORE_CANCELLED' })
    expect(isTidemarkError(copy, 'TM_CORE_CANCELLED')).toBe(true)
    for (const other of [null, undefined, 'TM_CORE_CANCELLED', new Error('x'), { code: 'TM_CORE_CANCELLED' }]) {
      expect(isTidemarkError(other)).toBe(false)
    }
  })

  it('[COR-8] print as plain JSON with remedy and page, the cause as its message', () => {
    expect(JSON.parse(JSON.stringify(example))).toEqual({
      code: 'TM_CORE_OFFSET_INVALID',
      message: 'test: -1 is not an offset (a whole number from 0 to 9223372036854775807)',
      details: { value: '-1', where: 'test' },
      retriable: false,
      remedy: 'Pass the offset as a bigint, a safe integer, or a canonical decimal string.',
      docsPath: 'docs/errors/core.md#tm_core_offset_invalid',
      cause: 'below',
    })
    expect(example).toBeInstanceOf(TidemarkError)
    expect(example.message).not.toMatch(/\n/)
  })

  it('[COR-8] anything thrown has a one-line message', () => {
    expect(messageOf(new TypeError(''))).toBe('TypeError')
    expect(messageOf(new Error('lost'))).toBe('lost')
    expect(messageOf({ message: 'from a client' })).toBe('from a client')
    expect(messageOf(undefined)).toBe('undefined')
  })

  it('[COR-9] a catalogue refuses codes of another area', () => {
    const spec: ErrorSpec = { retriable: false, message: () => 'x', remedy: 'y' }
    expect(() => defineErrors('LOG', { TM_CORE_X: spec })).toThrow(/TM_CORE_X does not start with TM_LOG_/)
  })

  it('[COR-9] every core code has a message of its details, a remedy and a page', () => {
    expect(coreErrors.codes.length).toBeGreaterThan(5)
    for (const code of coreErrors.codes) {
      expect(coreErrors.remedy(code)).toMatch(/\w+.*\.$/)
      expect(coreErrors.docsPath(code)).toBe(`docs/errors/core.md#${code.toLowerCase()}`)
    }
  })

  it('[COR-9] a broken invariant names itself', () => {
    expect(() => invariant(true, 'x-1', 'never seen')).not.toThrow()
    const broken = (): void => invariant(false, 'x-1', 'two is one')
    expect(broken).toThrow('invariant x-1 does not hold: two is one')
    expect(broken).toThrow(expect.objectContaining({ code: 'TM_CORE_INVARIANT_VIOLATED' }))
  })
})
