import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'

const example = dirname(import.meta.dirname)
const run = promisify(execFile)

describe('the demo without any server', () => {
  it('kills, resumes, refuses, proves it, and leaves nothing behind', { timeout: 300_000 }, async () => {
    const flags = ['--import', 'tsx', '--conditions=@tidemark/source']
    const env = { ...process.env, TIDEMARK_BACKEND: 'embedded', KAFKA_BROKERS: '', REDIS_URL: '' }
    const options = { cwd: example, env, timeout: 280_000 }
    // A failing exit code rejects here.
    const { stdout, stderr } = await run(process.execPath, [...flags, join(example, 'src/demo.ts')], options)
    expect(stderr).toBe('')
    const folder = /^session projection, embedded: a log in files and a store on PGlite under (\S+) /.exec(stdout)?.[1]
    expect(folder).toBeDefined()
    expect(existsSync(folder!)).toBe(false)
    expect(stdout).toContain('the process is gone: SIGKILL')
    expect(stdout).toContain('projector: store: postgres transactional, durability "process": ')
    expect(stdout).toMatch(/catching up: 100 % \(\d+ of \d+ offsets\), 4 of 4 partitions there/)
    for (const code of ['TOPIC_ID', 'PARTITION_COUNT', 'EXTRA_CHECKPOINT', 'NEXT_ABOVE_HIGH'])
      expect(stdout).toContain(code)
    for (const row of [/ok +lost +0 /, / ok +duplicates +0 /, / ok +positions after the refusal +unchanged /]) {
      expect(stdout).toMatch(row)
    }
    expect(stdout).not.toContain('BROKEN')
    expect(stdout.trimEnd().split('\n').at(-1)).toBe('   proof: sessions equal those recomputed from the log')
  })
})
