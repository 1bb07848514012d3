import { spawnSync } from 'node:child_process'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

const { commandFlags, helpText } = await loadScript<{
  commandFlags(name: string): string[]
  helpText(name: string): string
}>('plan/command-help')

const commandNames = ['test', 'gates', 'bench', 'demo', 'check:fresh', 'bootstrap']
const root = join(import.meta.dirname, '../../../..')

/** Runs a script as npm does; no script here may come as far as installing something. */
function runScript(name: string, ...args: string[]): { code: number | null; out: string; said: string } {
  const script = join(root, 'scripts', `${name}.mjs`)
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, ...args], {
    cwd: root,
    encoding: 'utf8',
    timeout: 20_000,
  })
  return { code: status, out: stdout, said: stderr }
}

describe('the help of a command', () => {
  it.each(commandNames)('%s --help tells its flags and examples, and does nothing else', (name) => {
    const { code, out } = runScript(name.replace(':', '-'), '--help')
    expect(code).toBe(0)
    expect(out).toBe(`${helpText(name)}\n`)
    for (const flag of commandFlags(name)) expect(out).toContain(`--${flag}`)
    expect(out).toContain('examples:')
  })

  it('covers every script that looks at its arguments', () => {
    const scripts = readdirSync(join(root, 'scripts')).filter((file) => file.endsWith('.mjs'))
    const readers = scripts.filter((file) =>
      /readCommand\(|process\.argv\.slice/.test(readFileSync(join(root, 'scripts', file), 'utf8')),
    )
    expect(readers.sort()).toEqual(commandNames.map((name) => `${name.replace(':', '-')}.mjs`).sort())
  })

  it.each(commandNames)('of %s fits a terminal of 130 columns, and its examples name flags that exist', (name) => {
    const text = helpText(name)
    expect(text.split('\n').filter((line) => line.length > 130)).toEqual([])
    const examples = text.slice(text.indexOf('examples:'))
    const used = [...examples.matchAll(/ --([a-z-]+)/g)].map(([, flag]) => flag!)
    expect(used.filter((flag) => !commandFlags(name).includes(flag))).toEqual([])
  })

  it('is asked for with -h too', () => {
    expect(runScript('gates', '-h')).toMatchObject({ code: 0, out: `${helpText('gates')}\n` })
  })
})

describe('a typing error', () => {
  it.each([
    ['gates', ['--ful'], 'unknown flag --ful; known: --list --full --strict --help'],
    ['gates', ['A1', 'A2'], 'unexpected A2; it takes one word'],
    ['gates', ['Z'], 'no gate begins with Z'],
    ['test', ['unit'], 'unexpected unit; it takes no word'],
    ['test', ['--only=units'], 'the stages are'],
    ['demo', ['-embedded'], 'unknown flag -embedded'],
    ['bench', ['nonsense'], 'no bench is called nonsense'],
    ['bench', ['redis', 'r9'], 'redis/advance has no metrics to choose from, so there is no r9'],
  ])('%s %j is refused with what is known, and nothing is run', (script, args, message) => {
    const { code, out, said } = runScript(script, ...args)
    expect(code).toBe(1)
    expect(said).toContain(message)
    expect(out).not.toContain('- package manager')
  })
})

describe('npm run gates -- --list', () => {
  it('tells what gates show and runs nothing', () => {
    const { code, out } = runScript('gates', 'CK-0', '--list')
    expect(code).toBe(0)
    const [head, ...rows] = out.trimEnd().split('\n')
    expect(head).toMatch(/^gate +milestone +what it shows$/)
    expect(rows.map((row) => row.slice(0, 5))).toEqual(['CK-01', 'CK-02', 'CK-03', 'CK-05', 'CK-06', 'CK-07', 'CK-09'])
    for (const row of rows) expect(row).toMatch(/^CK-\d\d +1 +\S.{20,}$/)
  })
})
