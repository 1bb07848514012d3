/**
 * The record of a full run of one gate; it names no path of a machine.
 *
 * Shape: run = { commit, dirty, seed, size, at, versions, durationMs, backends, measures }; `measures` as readMeasures gives them; verdict as judgeGates gives it.
 */
export function gateEvidence(verdict, run) {
  const measured = run.measures.filter(({ gate }) => gate === verdict.id).map(({ gate: _gate, ...figures }) => figures)
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
    ...(measured.length === 0 ? {} : { measured }),
    durationSeconds: Math.round(run.durationMs / 1000),
    backends: run.backends,
    versions: run.versions,
  }
}
