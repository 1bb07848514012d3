const stackLine = /^\s+at /
const endOfNode = /^Node\.js v/
const thrown = /^(?:Uncaught )?[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?: .|^Error: ./

/**
 * What is to be said of a bench that did not do what it was asked, `undefined` when it did.
 *
 * Shape: run = { code, timedOut, said }, `said` being its standard error; read as readBenchOutput gives it.
 */
export function benchComplaint({ code, timedOut, said }, { results, faults }) {
  if (timedOut) return 'it ran out of time'
  if (code !== 0) return `${reasonIn(said)} (${code === null ? 'it was ended by a signal' : `exit code ${code}`})`
  return results.length === 0 ? 'it printed no result' : faults[0]
}

/** The message of the error a program ended with, else the last it said. */
function reasonIn(said) {
  const lines = said.split('\n').filter((line) => line.trim() !== '' && !stackLine.test(line) && !endOfNode.test(line))
  return (lines.find((line) => thrown.test(line)) ?? lines.at(-1) ?? 'it gave no reason').trim()
}

/** The benches that failed, for the end of a run: behind a long table nobody sees what was said before it. */
export function benchFailureLines(failures) {
  return failures.length === 0 ? [] : ['failed:', ...failures.map(({ name, complaint }) => `  ${name}: ${complaint}`)]
}
