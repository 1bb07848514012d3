const fields = {
  bench: 'string',
  metric: 'string',
  ours: 'number',
  peer: 'number',
  peerName: 'string',
  ratio: 'number',
  spread: 'number',
  unit: 'string',
}
const optionalFields = { ratioIs: 'string', quick: 'boolean' }

/** How far the figures of a row, rounded as they are, may be from its ratio. */
const rounding = { share: 0.03, least: 0.001 }

/**
 * Reads the lines a bench printed: its results, and what else it said.
 *
 * Shape: { results, remarks, faults }; a line that begins with a brace but is no whole result is a fault, never passed over. So is
 * a ratio that is not ours / peer in a row that does not say in `ratioIs` what it is. `quick` marks a row of the smallest size.
 */
export function readBenchOutput(text) {
  const results = []
  const remarks = []
  const faults = []
  for (const line of text.split('\n').filter((one) => one.trim() !== '')) {
    if (!line.startsWith('{')) {
      remarks.push(line)
      continue
    }
    const fault = benchLineFault(line)
    if (fault === undefined) results.push(JSON.parse(line))
    else faults.push(`${fault}: ${line.slice(0, 200)}`)
  }
  return { results, remarks, faults }
}

function benchLineFault(line) {
  let value
  try {
    value = JSON.parse(line)
  } catch {
    return 'not JSON'
  }
  const given = Object.entries(optionalFields).filter(([name]) => value[name] !== undefined)
  const wrong = [...Object.entries(fields), ...given].find(
    ([name, type]) => typeof value[name] !== type || Number.isNaN(value[name]),
  )
  if (wrong !== undefined) return `${wrong[0]} must be a ${wrong[1]}`
  const { ours, peer, ratio, ratioIs } = value
  const isQuotient = Math.abs(ratio - ours / peer) <= Math.max(rounding.share * Math.abs(ratio), rounding.least)
  return ratioIs !== undefined || isQuotient ? undefined : `ratio ${ratio} is not ours / peer, and ratioIs is missing`
}

/** Results as a table for a person: ratio is ours / peer of the same run, and what is otherwise stands in the row's note. */
export function benchTable(results) {
  const head = ['bench', 'metric', 'ours', 'peer', 'peer name', 'ratio', 'spread', 'unit', 'note']
  const rows = results.map((one) => [
    one.bench,
    one.metric,
    shortNumber(one.ours),
    shortNumber(one.peer),
    one.peerName,
    one.ratio.toFixed(3),
    one.spread.toFixed(3),
    one.unit,
    [one.ratioIs && `ratio: ${one.ratioIs}`, one.quick && 'quick: no measurement'].filter(Boolean).join('; '),
  ])
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map((row) => row[column].length)))
  const format = (row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column]))
      .join('  ')
      .trimEnd()
  return [format(head), format(widths.map((width) => '-'.repeat(width))), ...rows.map(format)].join('\n')
}

function shortNumber(value) {
  return Math.abs(value) >= 100 ? String(Math.round(value)) : String(Number(value.toPrecision(4)))
}
