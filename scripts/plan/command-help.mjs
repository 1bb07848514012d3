/**
 * What the project's commands take: the flags a command accepts and its help are the same data.
 *
 * Shape: { call, does, words: [[word, text]], flags: [[flag, text]], variables?: [[name, text]], examples: [[line, text]] }; a
 * flag is written as it is typed, without its dashes: `full` or `size=ci|full`; a word that ends in … may come several times.
 */
const commands = {
  test: {
    call: 'npm test',
    does: 'every check of the project, cheap and telling ones first; installs what is missing before',
    words: [],
    flags: [
      ['offline', 'without what needs a Kafka, a Redis or a Postgres'],
      ['size=ci|full', 'how much generated tests do; ci unless said otherwise'],
      ['only=<stage,stage>', 'some stages; an unknown name lists them all'],
    ],
    variables: [
      ['TIDEMARK_SEED', 'the seed of an earlier run, to repeat it; every run prints its own'],
      ['TIDEMARK_SIZE', 'as --size'],
    ],
    examples: [
      ['npm test', 'everything'],
      ['npm test -- --offline', 'on a machine without services'],
      ['npm test -- --only=types,unit', 'two stages'],
    ],
  },
  gates: {
    call: 'npm run gates',
    does: "runs the tests that carry a gate's id in their titles, and gives a verdict for each gate",
    words: [['prefix', 'the gate of exactly this id, else every gate whose id begins so']],
    flags: [
      ['list', 'tells what each gate shows, and runs nothing'],
      ['full', 'in full size, which takes most of an hour; writes docs/evidence'],
      ['strict', 'a gate without a test fails the run, also when its milestone is yet to come'],
    ],
    variables: [['TIDEMARK_SEED', 'the seed of an earlier run, to repeat it']],
    examples: [
      ['npm run gates', 'every gate'],
      ['npm run gates -- A5', 'one'],
      ['npm run gates -- CK-3', 'CK-30 to CK-39'],
      ['npm run gates -- A --list', 'what A1 to A13 show'],
    ],
  },
  bench: {
    call: 'npm run bench',
    does: 'measures ours beside a peer of the same run; real services are started for it',
    words: [
      ['name', 'the benches whose <package>/<name> contains this; an unknown name lists them all'],
      ['metric…', 'some metrics of that bench, where it has several; an unknown one lists them all'],
    ],
    flags: [
      ['quick', 'the smallest size: shows that it runs, its figures are no measurement'],
      ['json', 'a JSON object a line on standard output, everything else on standard error'],
    ],
    variables: [['TIDEMARK_BENCH_ROUNDS', 'how many rounds are taken']],
    examples: [
      ['npm run bench -- checkpoint', 'everything the checkpoint costs'],
      ['npm run bench -- checkpoint r1 codec', 'two metrics of it'],
      ['npm run bench -- checkpoint --quick', 'whether it runs'],
    ],
  },
  demo: {
    call: 'npm run demo',
    does: 'a service that is killed halfway, restarted, and whose topic is recreated; proves that its sessions equal the log',
    words: [],
    flags: [['embedded', 'on a log in files and PGlite, although real services could be had']],
    variables: [
      ['KAFKA_BROKERS', 'brokers to use instead of a local one'],
      ['REDIS_URL', 'a Redis to use instead of a local one'],
    ],
    examples: [
      ['npm run demo', 'on real services where they can be had'],
      ['npm run demo -- --embedded', 'needs nothing but Node'],
    ],
  },
  'check:fresh': {
    call: 'npm run check:fresh',
    does: "what a newcomer's machine would meet: the decisions of the bootstrap, and one without tools and caches",
    words: [],
    flags: [
      ['clone', 'also in a new clone of the committed tree, with the offline tests'],
      ['chroot=<folder>', 'also with a real installation in a bare Debian root; as root'],
    ],
    examples: [['npm run check:fresh -- --clone', 'what a fresh clone does']],
  },
  bootstrap: {
    call: 'node scripts/bootstrap.mjs',
    does: 'installs what is missing in this clone; whatever is there is left alone',
    words: [],
    flags: [['services', 'also what the tests on a real Kafka, Redis and Postgres need']],
    examples: [['node scripts/bootstrap.mjs --services', 'once, before service tests are run by hand']],
  },
}

/** The flags a command accepts, without dashes and values. */
export function commandFlags(name) {
  return [...commands[name].flags.map(([flag]) => flag.split('=')[0]), 'help']
}

/** How many words a command takes. */
export function commandWordsMax(name) {
  const { words } = commands[name]
  return words.some(([word]) => word.endsWith('…')) ? Number.POSITIVE_INFINITY : words.length
}

/** The help of a command, for a terminal of a hundred columns. */
export function helpText(name) {
  const { call, does, words, flags, variables = [], examples } = commands[name]
  const usage = [call, ...words.map(([word]) => `[${word}]`), ...flags.map(([flag]) => `[--${flag}]`)]
  // npm keeps flags for itself that do not stand behind two dashes.
  if (call.startsWith('npm')) usage.splice(1, 0, '--')
  const sections = [
    ['', words],
    ['flags', [...flags.map(([flag, text]) => [`--${flag}`, text]), ['--help', 'this text']]],
    ['environment', variables],
    ['examples', examples],
  ]
  const width = Math.max(...sections.flatMap(([, rows]) => rows.map(([left]) => left.length)))
  const blocks = sections
    .filter(([, rows]) => rows.length > 0)
    .map(([title, rows]) => {
      const lines = rows.map(([left, text]) => `  ${left.padEnd(width)}  ${text}`)
      return (title === '' ? lines : [`${title}:`, ...lines]).join('\n')
    })
  return [`${usage.join(' ')}\n${does}`, ...blocks].join('\n\n')
}
