import { failedTestLines } from './failed-tests.mjs'
import { measureLine } from './gate-measures.mjs'
import { gateLine, gatesLine } from './gate-report.mjs'

const unrunnable = '(the file could not be run)'

/**
 * The tests of one kind of a run of gates: a file that could not be run stands for every gate it should show, which is failed
 * then and not missing.
 *
 * Shape: files = [{ file, ids }]; result = { tests, complaint? } as runVitest gives it.
 */
export function testsOfGates(kind, files, { tests, complaint }) {
  const broken = files.flatMap(({ file, ids }) => {
    const own = tests.filter((test) => test.file === file)
    const ran = own.some(({ title }) => title !== unrunnable)
    if (ran && complaint === undefined) return []
    const title = `${ids.map((id) => `[${id}]`).join(' ')} ${unrunnable}`
    const why = own.find((test) => test.title === unrunnable)?.why ?? complaint
    return [{ title, status: 'failed', file, kind, ...(why === undefined ? {} : { why }) }]
  })
  const stood = new Set(broken.map(({ file }) => file))
  return [...broken, ...tests.filter(({ file, title }) => title !== unrunnable || !stood.has(file))]
}

/**
 * The end of a run of gates: what it ran on and measured, a verdict for each gate, every failed test with its reason, the time
 * it took and how to repeat it; the counts are the last line.
 *
 * Shape: run = { verdicts, tests, backends, measures, took, seed, size, prefix? }.
 */
export function gateSummary({ verdicts, tests, backends, measures, took, seed, size, prefix }) {
  const repeat = [`TIDEMARK_SEED=${seed} npm run gates`, ...repeatedArguments(size, prefix)].join(' ')
  return [
    backends,
    ...measures.map(measureLine),
    ...verdicts.map(gateLine),
    ...failedTestLines(tests),
    `took ${took}; to repeat: ${repeat}`,
    gatesLine(verdicts),
  ]
}

function repeatedArguments(size, prefix) {
  const given = [...(prefix === undefined ? [] : [prefix]), ...(size === 'full' ? ['--full'] : [])]
  return given.length === 0 ? [] : ['--', ...given]
}
