import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

interface Judged {
  passed: number
  failed: number
  skipped: number
  complaint: string | undefined
  tests: { title: string; status: string }[]
}
const { closingLine, judgeVitestStage } = await loadScript<{
  closingLine(counts: { passed: number; failed: number; skipped: number }): string
  judgeVitestStage(input: { report: unknown; exitCode: number | null; timedOut: boolean; fileCount: number }): Judged
}>('plan/vitest-results')
const { failedTestLines } = await loadScript<{
  failedTestLines(tests: readonly object[]): string[]
}>('plan/failed-tests')

const test = (title: string, status: string) => ({ ancestorTitles: ['group'], title, status })
const file = (status: string, ...assertionResults: unknown[]) => ({ name: 'a.test.ts', status, assertionResults })
const judge = (testResults: unknown[] | undefined, rest: object = {}): Judged =>
  judgeVitestStage({
    report: testResults === undefined ? undefined : { testResults },
    exitCode: 0,
    timedOut: false,
    fileCount: 1,
    ...rest,
  })

describe('judgeVitestStage', () => {
  it('counts tests one by one', () => {
    const judged = judge(
      [file('failed', test('a', 'passed'), test('b', 'failed'), test('c', 'skipped'), test('d', 'todo'))],
      {
        exitCode: 1,
      },
    )
    expect(judged).toMatchObject({ passed: 1, failed: 1, skipped: 2, complaint: undefined })
    expect(judged.tests[0]).toMatchObject({ title: 'group > a', status: 'passed' })
  })

  it.each<[string, unknown[] | undefined, object, RegExp]>([
    ['no test ran although files exist', [], {}, /ran no test/],
    ['only skipped tests', [file('passed', test('a', 'skipped'))], {}, /ran no test/],
    ['no report', undefined, { exitCode: 1 }, /no report/],
    ['out of time', [file('passed', test('a', 'passed'))], { timedOut: true, exitCode: null }, /out of time/],
    ['an unhandled error beside passing tests', [file('passed', test('a', 'passed'))], { exitCode: 1 }, /exit code 1/],
  ])('fails a stage with %s', (_, results, rest, complaint) => {
    const judged = judge(results, rest)
    expect(judged.failed).toBe(1)
    expect(judged.complaint).toMatch(complaint)
  })

  it('counts a test that never came to an end as failed, whatever became of its process', () => {
    const judged = judge([file('passed', test('a', 'passed'), test('b', 'pending'))], { exitCode: 1 })
    expect(judged).toMatchObject({ passed: 1, failed: 1, skipped: 0 })
    expect(judged.tests[1]).toMatchObject({
      title: 'group > b',
      status: 'failed',
      why: expect.stringContaining('the process of its file was gone'),
    })
  })

  it('counts a file that could not be loaded as a failure', () => {
    expect(judge([file('failed')], { exitCode: 1 })).toMatchObject({ passed: 0, failed: 1 })
  })

  it('lets a kind of test that has no files pass', () => {
    expect(judge([], { fileCount: 0 })).toMatchObject({ passed: 0, failed: 0, complaint: undefined })
  })
})

describe('closingLine', () => {
  it('is the plain line, with skipped tests only when there are some', () => {
    expect(closingLine({ passed: 3, failed: 0, skipped: 0 })).toBe('3 passed, 0 failed')
    expect(closingLine({ passed: 3, failed: 1, skipped: 2 })).toBe('3 passed, 1 failed, 2 skipped')
  })
})

describe('failedTestLines', () => {
  it('tells every failed test with the beginning of its reason, and nothing of the others', () => {
    const failed = { ...test('b', 'failed'), failureMessages: ['Error: 1 is not 2\n\n    at here\n', 'second'] }
    const { tests } = judge([file('failed', test('a', 'passed'), failed)], { exitCode: 1 })
    expect(failedTestLines(tests)).toEqual([
      'failed tests:',
      '  a.test.ts > group > b',
      '      Error: 1 is not 2',
      '      at here',
    ])
  })

  it('tells why a file could not be loaded, and cuts what is long', () => {
    const { tests } = judge([{ ...file('failed'), message: 'line\n'.repeat(50) }], { exitCode: 1 })
    expect(failedTestLines(tests)).toHaveLength(2 + 8)
    const many = Array.from({ length: 40 }, () => tests[0]!)
    expect(failedTestLines(many).at(-1)).toBe('  and 15 more')
  })

  it('says nothing when nothing failed', () => {
    expect(failedTestLines(judge([file('passed', test('a', 'passed'))]).tests)).toEqual([])
  })
})
