/**
 * The record of a full run of one gate; it names no path of a machine.
 *
 * Shape: run = { commit, dirty, seed, size, at, versions, durationMs }; verdict as judgeGates gives it.
 */
export function gateEvidence(verdict, run) {
  return {
    gate: verdict.id,
    status: verdict.status,
    commit: run.commit,
    uncommittedChanges: run.dirty,
    at: run.at,
    size: run.size,
    seed: run.seed,
    tests: { passed: verdict.passedTests, failed: verdict.failedTests },
    files: verdict.files,
    durationSeconds: Math.round(run.durationMs / 1000),
    backends: run.backends,
    versions: run.versions,
  }
}
