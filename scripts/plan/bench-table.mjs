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

/**
 * Reads the lines a bench printed: its results, and what else it said.
 *
 * Shape: { results, remarks, faults }; a line that begins with a brace but is no whole result is a fault, never passed over.
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
  const wrong = Object.entries(fields).find(([name, type]) => typeof value[name] !== type || Number.isNaN(value[name]))
  return wrong === undefined ? undefined : `${wrong[0]} must be a ${wrong[1]}`
}

/** Results as a table for a person: ratio is ours to the peer's of the same run. */
export function benchTable(results) {
  const head = ['bench', 'metric', 'ours', 'peer', 'peer name', 'ratio', 'spread', 'unit']
  const rows = results.map((one) => [
    one.bench,
    one.metric,
    shortNumber(one.ours),
    shortNumber(one.peer),
    one.peerName,
    one.ratio.toFixed(3),
    one.spread.toFixed(3),
    one.unit,
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
