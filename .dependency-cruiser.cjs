// Who may import whom. The table is the design: a package boundary is a dependency boundary.
// `packages/repo-checks` runs these rules and compares the table with every package.json.

/** Packages of the workspace that the source of a package may import. */
const directions = {
  core: [],
  log: ['core'],
  checkpoint: ['core', 'log'],
  window: ['core', 'log'],
  cdc: ['core'],
  embedded: ['core', 'log', 'checkpoint'],
  kafka: ['core', 'log', 'cdc'],
  redis: ['core', 'log', 'checkpoint', 'window'],
  postgres: ['core', 'log', 'checkpoint', 'window', 'cdc'],
  debezium: ['core', 'cdc'],
  http: ['core', 'window', 'cdc'],
  testkit: ['core', 'log', 'checkpoint', 'window', 'cdc'],
  telemetry: ['core', 'log', 'checkpoint', 'window', 'cdc'],
  // The command composes every adapter, each loaded when a place names it.
  cli: ['core', 'log', 'checkpoint', 'window', 'cdc', 'embedded', 'kafka', 'redis', 'postgres'],
  // Private: composes adapters for the contract gates on real services.
  gates: ['core', 'log', 'checkpoint', 'window', 'cdc', 'embedded', 'kafka', 'redis', 'postgres', 'testkit'],
  'repo-checks': [],
}

/** Packages without I/O, clock or chance. */
const pure = ['core', 'log', 'checkpoint', 'window', 'cdc']

/** What pure packages take from a registry: computation alone, of words, schemas and calendars (docs/adr/dependencies.md). */
const pureLibraries = { window: ['@js-joda/core', '@js-joda/timezone', 'yaml', 'zod'] }

/** Packages that may use the test kit, in their tests only. */
const testkitUsers = ['embedded', 'kafka', 'redis', 'postgres', 'debezium', 'http', 'telemetry', 'cli', 'gates']

/** Third-party clients and the only packages that may know them, besides tests against real services. */
const clients = {
  '@confluentinc/kafka-javascript': ['kafka'],
  '@platformatic/kafka': ['kafka'],
  ioredis: ['redis'],
  pg: ['postgres'],
  '@electric-sql/pglite': ['postgres'],
}
const clientTesters = ['testkit', 'gates']
/** Packages that hand the clients on to the adapters they compose, as optional peers, and use them in their tests only. */
const clientPassers = ['cli']

/** The one file of the pure packages that may import from Node: hashing is deterministic and does no I/O. */
const hashingFile = '^packages/core/src/sha256[.]ts$'

const anyOf = (names) => `(${names.join('|')})`
const packageSource = (names) => `^packages/${anyOf(names)}/`
const all = Object.keys(directions)

const directionRules = all.map((name) => ({
  name: `direction-of-${name}`,
  comment: `The source of ${name} imports nothing of the workspace but ${directions[name].join(', ') || 'itself'}.`,
  severity: 'error',
  from: { path: `^packages/${name}/src/` },
  to: { path: '^(packages|examples)/', pathNot: packageSource([name, ...directions[name]]) },
}))

const clientRules = Object.entries(clients).map(([client, owners]) => ({
  name: `client-${client.replace(/[^a-z]+/g, '-')}`,
  comment: `${client} is known to ${owners.join(', ')} and to tests against real services only.`,
  severity: 'error',
  from: {
    path: '^packages/',
    pathNot: [packageSource([...owners, ...clientTesters]), ...clientPassers.map((name) => `^packages/${name}/test/`)],
  },
  to: { path: `(^|/)node_modules/${client.replaceAll('.', '[.]')}/` },
}))

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    ...directionRules,
    ...clientRules,
    {
      name: 'no-cycles',
      comment: 'A cycle has no reading order. Types count.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'pure-packages-know-no-host',
      comment: 'Pure packages import nothing from Node, but for the hashing file.',
      severity: 'error',
      from: { path: `${packageSource(pure)}src/`, pathNot: hashingFile },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'pure-packages-have-no-dependencies',
      comment: 'Pure packages import nothing from a registry.',
      severity: 'error',
      from: { path: `${packageSource(pure)}src/` },
      to: { path: '(^|/)node_modules/', pathNot: '(^|/)node_modules/@tidemark/' },
    },
    {
      name: 'domain-packages-never-use-testkit',
      comment: 'The test kit depends on the domain packages; the way back would be a cycle of packages.',
      severity: 'error',
      from: { path: packageSource(pure) },
      to: { path: '^packages/(testkit|gates)/' },
    },
    {
      name: 'testkit-is-for-tests',
      comment: 'Shipped source never imports the test kit.',
      severity: 'error',
      from: { path: '^(packages|examples)/[^/]+/src/', pathNot: '^packages/(testkit|gates)/' },
      to: { path: '^packages/testkit/' },
    },
    {
      name: 'adapters-never-import-each-other',
      comment: 'Tests included: what composes adapters lives in gates or in an example.',
      severity: 'error',
      from: { path: '^packages/(embedded|kafka|redis|postgres|debezium|http)/' },
      to: { path: '^packages/(embedded|kafka|redis|postgres|debezium|http)/', pathNot: '^packages/$1/' },
    },
    {
      name: 'nobody-imports-an-example-or-a-private-package',
      severity: 'error',
      from: { path: '^packages/', pathNot: '^packages/(repo-checks|gates)/' },
      to: { path: '^(examples|packages/(repo-checks|gates))/' },
    },
    {
      name: 'source-never-imports-tests',
      severity: 'error',
      from: { path: '^(packages|examples)/[^/]+/src/' },
      to: { path: '^(packages|examples)/[^/]+/test/' },
    },
    {
      name: 'resolvable',
      comment: 'Every import leads somewhere.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '(^|/)(dist|coverage|[.][^/.][^/]*)/' },
    tsPreCompilationDeps: true,
    combinedDependencies: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['@tidemark/source', 'import', 'node', 'default', 'types'],
      extensions: ['.ts', '.mts', '.mjs', '.js', '.cjs', '.json', '.d.ts'],
    },
  },
}

// Read by packages/repo-checks; not enumerable, because the rule runner accepts no field it does not know.
Object.defineProperty(module.exports, 'architecture', {
  value: { directions, pure, pureLibraries, testkitUsers, clients, clientTesters, clientPassers },
})
