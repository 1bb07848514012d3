/**
 * What tests measured for a gate and wrote down, in the order they did.
 *
 * Shape: one JSON object a line: { gate, what, ...figures }, figures being numbers or words. A line that is cut off, as by a
 * test that was killed while writing, is left out.
 */
export function readMeasures(text) {
  return text.split('\n').flatMap((line) => {
    try {
      const measure = JSON.parse(line)
      return typeof measure?.gate === 'string' && typeof measure.what === 'string' ? [measure] : []
    } catch {
      return []
    }
  })
}

/** One measure for a person: `<gate> <what>: <figure> <name>, …`. */
export function measureLine({ gate, what, ...figures }) {
  const parts = Object.entries(figures).map(([name, value]) => `${name} ${value}`)
  return `${gate} ${what}: ${parts.join(', ')}`
}
