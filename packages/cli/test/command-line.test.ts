import { describe, expect, it } from 'vitest'
import { verdicts } from '@tidemark/cli'
import type { ErrorReport } from '@tidemark/cli'
import { tidemark, tidemarkJson } from './recorded-host.ts'

const store = ['--redis', 'redis://127.0.0.1:1/0']
const log = ['--kafka', '127.0.0.1:1']
const names = ['-n', 'sessions', '-t', 'dispatch']
const explain = ['explain', ...store, ...log, ...names, '--ready-target', 'hw']

describe('help', () => {
  it.each([
    [['--help']],
    [['explain', '--help']],
    [['inspect', '-h']],
    [['verify', '--help']],
    [['rebuild', '--help']],
  ])('[CLI-6] of %s goes to standard output and ends with 0', async (argv) => {
    const { exitCode, stdout, stderr } = await tidemark(argv)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(stdout).toMatch(/^Usage: tidemark/)
  })

  it('[CLI-6] [CLI-8] tells every exit code, and where secrets come from', async () => {
    const { stdout } = await tidemark(['--help'])
    for (const [verdict, { exitCode }] of Object.entries(verdicts)) {
      expect(stdout).toMatch(new RegExp(`^ +${exitCode}  .*\\b${verdict}\\b`, 'm'))
    }
    for (const variable of ['REDIS_PASSWORD', 'POSTGRES_PASSWORD', 'KAFKA_SASL_PASSWORD', 'KAFKA_SECURITY_FILE']) {
      expect(stdout).toContain(`  ${variable} `)
    }
  })

  it('[CLI-6] the version is that of the package', async () => {
    const { exitCode, stdout } = await tidemark(['--version'])
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) })
  })
})

/** Command lines that make no sense, and a word of what is said about each. */
const wrong: readonly (readonly [readonly string[], string])[] = [
  [[], 'no command is named'],
  [['explian', ...names], 'Did you mean explain?'],
  [['explain', ...store, ...log, ...names], '--ready-target'],
  [['explain', ...store, ...log, ...names, '--ready-target', 'now'], 'Allowed choices are hw, lso'],
  [['explain', ...store, ...log, '-n', 'sessions', '--ready-target', 'hw'], '--topic'],
  [['explain', ...store, ...names, '--ready-target', 'hw'], 'no log is named'],
  [['explain', ...log, ...names, '--ready-target', 'hw'], 'no store is named'],
  [['inspect', '--pglite', './none', '-n', 'x'], 'no PGlite database stands there'],
  [['inspect', ...store, '--schema', 'x', '-n', 'x'], '--schema and --data-schema belong to'],
  [['inspect', '--postgres', 'http://x/y', '-n', 'x'], 'not a postgres:// URL'],
  [[...explain, '--embedded', 'x'], '--redis and --embedded name several stores'],
  [[...explain, '--embedded-log', 'x'], '--kafka and --embedded-log name two logs'],
  [[...explain, '--kafka-client', 'other'], 'official, pinned'],
  [[...explain, 'surplus'], 'too many arguments'],
  [[...explain, '--limit', '0'], 'a whole number from 1 to'],
  [[...explain, '--limit', '1e3'], 'a whole number from 1 to'],
  [[...explain, '--deadline-ms', '-1'], 'a whole number from 100 to'],
  [['inspect', ...store, '-n', ''], 'It is empty'],
  [['inspect', ...store, '-n', 'a{b}'], 'namespace "a{b}" is not usable'],
  [['inspect', ...store, '-n', 'sessions', '-t', 'a b'], 'topic name "a b"'],
  [['inspect', '--redis', 'http://x', '-n', 'sessions'], 'not a redis:// or rediss:// URL'],
  [['inspect', '--redis', 'redis://x/abc', '-n', 'sessions'], 'is not a number'],
  [[...explain.slice(0, 3), '--kafka', 'kafka://x:1', ...explain.slice(5)], 'it is not host:port'],
]

describe('a command line that makes no sense', () => {
  it.each(wrong)('[CLI-6] %j is said in one line on standard error, with what to do', async (argv, word) => {
    const { exitCode, stdout, stderr } = await tidemark(argv)
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
    const lines = stderr.trimEnd().split('\n')
    expect(lines.length).toBe(3)
    expect(lines[0]).toMatch(/^usage {2}/)
    expect(lines[0]).toContain(word)
    expect(lines[1]).toMatch(/^ {2}remedy {2}\S/)
    expect(lines[2]).toMatch(/^ {2}page {4}docs\/errors\/\w+\.md#tm_/)
  })

  it('[CLI-7] with --json the same is one object on standard output', async () => {
    for (const [argv] of wrong) {
      const { exitCode, stdout, stderr } = await tidemark([...argv, '--json'])
      expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: '' })
      const report = JSON.parse(stdout) as ErrorReport
      expect(report).toMatchObject({ version: 1, verdict: 'usage', exitCode: 2, error: { retriable: false } })
      expect(report.error.code).toMatch(/^TM_/)
    }
  })
})

describe('secrets', () => {
  const secret = 'h%unter2/'
  const url = `redis://u:${encodeURIComponent(secret)}@127.0.0.1:1/0`
  const forms = (text: string): readonly string[] =>
    [secret, encodeURIComponent(secret)].filter((form) => text.includes(form))

  it('[CLI-8] a password on the command line is refused without being repeated', async () => {
    for (const option of [
      ['--redis', url],
      ['--postgres', 'postgres://u:h%25unter2%2F@127.0.0.1:1/db'],
    ]) {
      const { exitCode, stdout, stderr } = await tidemark(['inspect', ...option, '-n', 'sessions'])
      expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' })
      expect(stderr).toContain(`${option[0]} holds a password`)
      expect(forms(stderr)).toEqual([])
    }
    const report = await tidemarkJson<ErrorReport>(['inspect', '--redis', url, '-n', 'sessions'])
    expect(report.error).toMatchObject({
      code: 'TM_CLI_SECRET_ON_COMMAND_LINE',
      details: { variable: 'REDIS_PASSWORD' },
    })
  })

  it('[CLI-8] a password in the environment, or in a URL there, is not repeated by any error', async () => {
    const environments = [
      { REDIS_URL: url },
      { REDIS_URL: 'redis://127.0.0.1:1/0', REDIS_PASSWORD: secret },
      { REDIS_URL: `redis://u:${secret}@x y/0` },
    ]
    for (const env of environments) {
      for (const more of [[], ['--json']]) {
        const { exitCode, stdout, stderr } = await tidemark(['inspect', '-n', 'sessions', ...more], { env })
        expect(exitCode).toBeGreaterThan(0)
        expect(forms(stdout + stderr)).toEqual([])
      }
    }
  })

  it('[CLI-8] a value given to an option that does not exist may be one', async () => {
    const { stderr } = await tidemark([...explain, '--redis-password=hunter2'])
    expect(stderr).toContain("unknown option '--redis-password=***'")
  })

  it('[CLI-8] credentials that nothing uses, and files that cannot be read, are said before anything connects', async () => {
    const run = async (env: Record<string, string>): Promise<string> => (await tidemark(explain, { env })).stderr
    expect(await run({ KAFKA_SASL_PASSWORD: 'hunter2' })).toContain('without KAFKA_SASL_MECHANISM')
    expect(await run({ KAFKA_SASL_MECHANISM: 'GSSAPI' })).toContain('not PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512')
    expect(await run({ KAFKA_SASL_MECHANISM: 'PLAIN', KAFKA_SASL_USERNAME: 'u' })).toContain('needs')
    expect(await run({ KAFKA_TLS: 'yes' })).toContain('not on or off')
    expect(await run({ KAFKA_TLS_CA_FILE: './none.pem' })).toContain('none.pem')
    expect(await run({ KAFKA_SECURITY_FILE: './none.json' })).toContain('none.json')
    expect(await run({ KAFKA_SECURITY_FILE: './command-line.test.ts' })).toContain('it is not JSON')
  })
})

describe('services that are not there', () => {
  it('[CLI-10] a Redis that refuses connections is said within its deadline', async () => {
    const startedMs = performance.now()
    const report = await tidemarkJson<ErrorReport>(['inspect', ...store, '-n', 'sessions', '--deadline-ms', '2000'])
    expect(report).toMatchObject({ verdict: 'unavailable', exitCode: 5, error: { code: 'TM_REDIS_CONNECT_FAILED' } })
    expect(report.error.details).toMatchObject({ address: '127.0.0.1:1' })
    expect(performance.now() - startedMs).toBeLessThan(10_000)
  })
})
