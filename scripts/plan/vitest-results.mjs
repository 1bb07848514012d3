const cameToNoEnd = 'it came to no end: the process of its file was gone before it'
const statusOf = { passed: 'passed', failed: 'failed', skipped: 'skipped', todo: 'skipped' }

/**
 * What a vitest JSON report says, counted so that nothing can hide: a file that could not be loaded counts as one failure, and
 * a test that never came to an end (its process was gone, say) counts as failed.
 *
 * Shape: { passed, failed, skipped, tests: [{ title, status, file, why? }] }; `why` is the first message of a failed test.
 */
export function readVitestReport(report) {
  const counts = { passed: 0, failed: 0, skipped: 0, tests: [] }
  for (const file of report.testResults) {
    if (file.assertionResults.length === 0 && file.status === 'failed') {
      counts.failed += 1
      counts.tests.push({ title: '(the file could not be run)', status: 'failed', file: file.name, why: file.message })
    }
    for (const test of file.assertionResults) {
      const status = statusOf[test.status] ?? 'failed'
      counts[status] += 1
      const title = [...test.ancestorTitles, test.title].join(' > ')
      const why = test.failureMessages?.[0] ?? (test.status in statusOf ? undefined : cameToNoEnd)
      counts.tests.push({ title, status, file: file.name, ...(why === undefined ? {} : { why }) })
    }
  }
  return counts
}

/**
 * What came of one vitest stage.
 *
 * Shape: input = { report | undefined, exitCode, timedOut, fileCount }. A stage that has test files and ran no test, one whose
 * report is missing, and one that ended badly without a failed test (an unhandled error, say) all count as one failure.
 */
export function judgeVitestStage({ report, exitCode, timedOut, fileCount }) {
  const counts = report === undefined ? { passed: 0, failed: 0, skipped: 0, tests: [] } : readVitestReport(report)
  const ran = counts.passed + counts.failed
  const complaint = complaintAbout({ report, exitCode, timedOut, fileCount, ran, failed: counts.failed })
  const failed = counts.failed + (complaint === undefined ? 0 : 1)
  return { ...counts, failed, complaint }
}

function complaintAbout({ report, exitCode, timedOut, fileCount, ran, failed }) {
  if (timedOut) return 'it ran out of time'
  if (report === undefined) return fileCount === 0 && exitCode === 0 ? undefined : 'it left no report'
  if (fileCount > 0 && ran === 0) return `it ran no test, though there are ${fileCount} test files`
  if (exitCode !== 0 && failed === 0) return `no test failed, but it ended with exit code ${exitCode}`
  return undefined
}

/** The closing line: `N passed, N failed`, with what was skipped when something was. */
export function closingLine({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`
}
