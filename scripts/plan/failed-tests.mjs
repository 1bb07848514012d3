const linesMax = 8
const testsMax = 25

/**
 * The failed tests of a run, for its end: a log that is kept only in part still tells what failed, and why.
 *
 * Shape: tests = [{ title, status, file, why? }]; two lines or more for each, nothing when none failed.
 */
export function failedTestLines(tests) {
  const failed = tests.filter(({ status }) => status === 'failed')
  if (failed.length === 0) return []
  const shown = failed.slice(0, testsMax).flatMap(({ title, file, why }) => [
    `  ${file} > ${title}`,
    ...String(why ?? 'it gave no reason')
      .split('\n')
      .filter((line) => line.trim() !== '')
      .slice(0, linesMax)
      .map((line) => `      ${line.trim()}`),
  ])
  const more = failed.length > testsMax ? [`  and ${failed.length - testsMax} more`] : []
  return ['failed tests:', ...shown, ...more]
}
