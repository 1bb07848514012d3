import { UsageError } from './usage-error.mjs'

/** The ids in a test's title: every word of every `[…]` in it. */
export function idsInTitle(title) {
  return [...title.matchAll(/\[([^\]]+)\]/g)].flatMap(([, inside]) => inside.split(/[\s,]+/)).filter((id) => id !== '')
}

/** The ids a test file mentions in brackets; the quick way to know which files to run. */
export function idsInSource(text) {
  return new Set(idsInTitle(text).filter((id) => /^[A-Z][A-Z0-9-]*\d$/.test(id)))
}

/**
 * The gates a person means: all without a prefix; the one of exactly that name; else every one that begins so.
 *
 * Throws: UsageError when nothing matches, so that a typing error is not a green run.
 */
export function chooseGates(gates, prefix) {
  if (prefix === undefined) return gates
  const exact = gates.filter(({ id }) => id === prefix)
  const chosen = exact.length > 0 ? exact : gates.filter(({ id }) => id.startsWith(prefix))
  if (chosen.length === 0)
    throw new UsageError(`no gate begins with ${prefix}; known: ${gates.map(({ id }) => id).join(' ')}`)
  return chosen
}

/**
 * One verdict per gate.
 *
 * Shape: gates = [{ id, milestone, kind? }]; tests = [{ title, status, file, kind }]. A gate with a `kind` needs a test of that kind
 * among its passing ones. A skipped test (a contract case that does not apply
 * to an adapter) neither passes nor fails it. A failed gate names the files that failed, any other every file that carries its id.
 */
export function judgeGates(gates, tests) {
  return gates.map((gate) => {
    const own = tests.filter(({ title }) => idsInTitle(title).includes(gate.id))
    const filesOf = (some) => [...new Set(some.map(({ file }) => file))].sort()
    const passed = own.filter(({ status }) => status === 'passed')
    const failed = own.filter(({ status }) => status === 'failed')
    const proven = gate.kind === undefined ? passed.length > 0 : passed.some(({ kind }) => kind === gate.kind)
    const status = failed.length > 0 ? 'failed' : proven ? 'passed' : 'missing'
    const files = filesOf(failed.length > 0 ? failed : own)
    return { ...gate, status, files, passedTests: passed.length, failedTests: failed.length }
  })
}

/**
 * Whether the run fails: any failed gate; a missing one that is due; a missing later one only when it was named or with `strict`.
 */
export function gatesFail(verdicts, { named, strict, milestone }) {
  return verdicts.some((verdict) => {
    if (verdict.status === 'failed') return true
    if (verdict.status !== 'missing') return false
    return named || strict || verdict.milestone <= milestone
  })
}

/** The gates as a list for a person: id, milestone, what it shows. */
export function gateList(gates) {
  const width = Math.max(...gates.map(({ id }) => id.length), 'gate'.length)
  const row = (id, milestone, text) => `${id.padEnd(width)}  ${String(milestone).padEnd('milestone'.length)}  ${text}`
  return [row('gate', 'milestone', 'what it shows'), ...gates.map((gate) => row(gate.id, gate.milestone, gate.title))]
}

/** `<gate> passed|failed|missing <test file>`; a dash where there is no file. */
export function gateLine({ id, status, files }) {
  return `${id} ${status} ${files.length === 0 ? '-' : files.join(',')}`
}

/** The last line. */
export function gatesLine(verdicts) {
  const count = (status) => verdicts.filter((verdict) => verdict.status === status).length
  return `gates: ${count('passed')} passed, ${count('failed')} failed, ${count('missing')} missing`
}
