/**
 * Packages in rounds: every package of a round depends only on packages of earlier rounds.
 *
 * Shape: manifests = [{ name, dependencies: string[] }]; names outside the list are ignored.
 * Throws: Error that names the packages of a cycle.
 */
export function buildRounds(manifests) {
  const names = new Set(manifests.map(({ name }) => name))
  const done = new Set()
  const rounds = []
  let waiting = [...manifests]
  while (waiting.length > 0) {
    const ready = waiting.filter(({ dependencies }) => dependencies.every((name) => !names.has(name) || done.has(name)))
    if (ready.length === 0)
      throw new Error(`packages depend on each other in a circle: ${waiting.map(({ name }) => name).join(', ')}`)
    for (const { name } of ready) done.add(name)
    rounds.push(ready.map(({ name }) => name))
    waiting = waiting.filter(({ name }) => !done.has(name))
  }
  return rounds
}
