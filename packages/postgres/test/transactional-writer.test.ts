import { describe, expect, it } from 'vitest'
import { stepBuffers } from '../src/checkpoint/transactional-writer.ts'
import type { SqlValue } from '../src/checkpoint/transactional-writer.ts'

const buffers = stepBuffers('a store', 'ns:')

describe('the transactional writer', () => {
  it('[PGS-14] keeps statements and vocabulary in the order of writing', () => {
    const buffer = buffers.create()
    const w = buffer.writer
    w.sadd('s', '1')
    w.sadd('s', '2')
    w.sql('UPDATE a SET n = n + $1', [1])
    w.sql('UPDATE b SET n = n + $1', [2n])
    w.hset('h', 'f', 'v')
    expect(buffer.writeCount).toBe(5)
    expect(
      buffers.segmentsOf(buffer).map((one) => (one.kind === 'statement' ? one.statement.text : one.writes.length)),
    ).toEqual([2, 'UPDATE a SET n = n + $1', 'UPDATE b SET n = n + $1', 1])
  })

  it('[PGS-14] rewinds to any mark, statements and vocabulary alike', () => {
    const buffer = buffers.create()
    const steps = [
      () => buffer.writer.sql('SELECT 1'),
      () => buffer.writer.sadd('s', 'm'),
      () => buffer.writer.sql('SELECT 2', ['two']),
      () => buffer.writer.sql('SELECT 3'),
      () => buffer.writer.del('s'),
    ]
    const marks = steps.map((step) => {
      const mark = { ...buffer.mark(), segments: buffers.segmentsOf(buffer) }
      step()
      return mark
    })
    for (const mark of marks.reverse()) {
      buffer.rewind(mark)
      expect([buffer.writeCount, buffer.byteCount]).toEqual([mark.writeCount, mark.byteCount])
      expect(buffers.segmentsOf(buffer)).toEqual(mark.segments)
    }
  })

  it.each([
    'COMMIT',
    'rollback',
    ' /* x */ -- y\n (begin',
    'SET search_path = x',
    'SAVEPOINT a',
    'DROP TABLE x',
    'DO $$ BEGIN END $$',
    'LISTEN x',
    '',
    '/* never ends',
  ])('[PGS-14] refuses %j before anything is collected', (text) => {
    const buffer = buffers.create()
    expect(() => buffer.writer.sql(text)).toThrow(expect.objectContaining({ code: 'TM_CHECKPOINT_WRITE_INVALID' }))
    expect([buffer.writeCount, buffer.byteCount]).toEqual([0, 0])
  })

  it.each([
    'INSERT INTO t VALUES (1)',
    '  -- why\nupdate t set a = 1',
    '/* a */ WITH x AS (SELECT 1) SELECT 1',
    '(SELECT 1)',
  ])('[PGS-14] takes %j', (text) => {
    const buffer = buffers.create()
    buffer.writer.sql(text)
    expect(buffer.writeCount).toBe(1)
  })

  it('[PGS-14] refuses values that Postgres cannot hold, and never shows one', () => {
    const bad: readonly unknown[] = [
      '\u0000secret',
      '\ud800secret',
      Number.NaN,
      Infinity,
      undefined,
      { secret: 1 },
      ['secret'],
      'secret'.repeat(20_000),
    ]
    for (const value of bad) {
      const buffer = buffers.create()
      let thrown: unknown
      try {
        buffer.writer.sql('SELECT $1', [value as SqlValue])
      } catch (error) {
        thrown = error
      }
      expect(thrown).toMatchObject({ code: 'TM_CHECKPOINT_WRITE_INVALID' })
      expect(JSON.stringify(thrown)).not.toContain('secret')
      expect(buffer.writeCount).toBe(0)
    }
    const buffer = buffers.create()
    buffer.writer.sql('SELECT $1, $2, $3, $4, $5', ['x', 1, 2n ** 70n, null, new Uint8Array(3)])
    expect(buffer.writeCount).toBe(1)
  })

  it('[PGS-14] takes a copy of the values', () => {
    const buffer = buffers.create()
    const values: SqlValue[] = [1]
    buffer.writer.sql('SELECT $1', values)
    values[0] = 2
    expect(buffers.segmentsOf(buffer)).toEqual([{ kind: 'statement', statement: { text: 'SELECT $1', values: [1] } }])
  })

  it('refuses a buffer that it did not make', () => {
    const other = stepBuffers('another', 'ns:').create()
    expect(() => buffers.segmentsOf(other)).toThrow(expect.objectContaining({ code: 'TM_POSTGRES_BUFFER_FOREIGN' }))
  })
})
