import { UsageError } from './usage-error.mjs'

const minute = 60_000

/** The stages of `npm test`, in order: cheap and telling ones first. `vitest` names a project of vitest.workspace.ts. */
const allStages = [
  { name: 'format', kind: 'check', what: 'prettier', timeoutMs: 5 * minute },
  { name: 'lint', kind: 'check', what: 'oxlint and knip', timeoutMs: 5 * minute },
  { name: 'types', kind: 'check', what: 'tsc', timeoutMs: 10 * minute },
  { name: 'unit', kind: 'vitest', suffix: '.test.ts', timeoutMs: 10 * minute },
  { name: 'property', kind: 'vitest', suffix: '.property.test.ts', timeoutMs: 15 * minute },
  { name: 'build', kind: 'check', what: 'tsup', timeoutMs: 10 * minute },
  { name: 'package', kind: 'vitest', suffix: '.package.test.ts', timeoutMs: 5 * minute },
  { name: 'sim', kind: 'vitest', suffix: '.sim.test.ts', timeoutMs: 15 * minute },
  { name: 'service', kind: 'vitest', suffix: '.service.test.ts', timeoutMs: 40 * minute, services: true },
  { name: 'example', kind: 'check', what: 'the demo on the built packages', timeoutMs: 10 * minute },
]

/** The pure kinds of tests once more on a newer Node; the native client is built for the older one only, so no service tests. */
const newerNodeStages = ['unit', 'property', 'sim'].map((project) => ({
  ...allStages.find(({ name }) => name === project),
  name: `${project}-node24`,
  project,
  newerNode: true,
}))

const longSuffixes = ['.property.test.ts', '.package.test.ts', '.sim.test.ts', '.service.test.ts']

/** The test files a stage runs: what checks the house itself says the same on every Node. */
export function filesOfStage({ name, project = name, newerNode = false }, files) {
  const kept = files.filter(({ kind }) => kind === project).map(({ file }) => file)
  return newerNode ? kept.filter((file) => !/^packages[/\\]repo-checks[/\\]/.test(file)) : kept
}

/** The sizes a run can have. */
export const sizes = ['ci', 'full']

/**
 * Which stages run.
 *
 * Shape: options = { offline, size, only: string | undefined, newerNode }; `offline` leaves out what needs services, by name;
 * `newerNode` adds the pure kinds of tests on Node 24.
 * Throws: UsageError on an unknown size or stage, so that a typing error never passes as a run of nothing.
 */
export function planStages({ offline, size, only, newerNode = false }) {
  if (!sizes.includes(size)) throw new UsageError(`--size=${size}: it must be ${sizes.join(' or ')}`)
  const chosen = only === undefined ? undefined : only.split(',')
  const stages = [...allStages, ...newerNodeStages]
  const known = stages.map(({ name }) => name)
  const unknown = chosen?.find((name) => !known.includes(name))
  if (unknown !== undefined) throw new UsageError(`--only=${unknown}: the stages are ${known.join(', ')}`)
  const factor = size === 'full' ? 6 : 1
  return stages
    .filter((stage) => (chosen === undefined ? newerNode || !stage.newerNode : chosen.includes(stage.name)))
    .filter((stage) => !(offline && stage.services))
    .map((stage) => ({ ...stage, timeoutMs: stage.timeoutMs * factor }))
}

/** Which test project a file belongs to: the suffix is the kind, `unit` when no longer one fits. `undefined` for other files. */
export function kindOfTestFile(file) {
  const long = longSuffixes.find((suffix) => file.endsWith(suffix))
  if (long !== undefined) return allStages.find((stage) => stage.suffix === long).name
  return file.endsWith('.test.ts') ? 'unit' : undefined
}
