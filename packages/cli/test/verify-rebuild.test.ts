import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { ErrorReport, InspectReport, RebuildReport, VerifyReport } from '@tidemark/cli'
import { createEmbeddedWorld, dispatches, removeKey, setField, topic } from './embedded-world.ts'
import type { EmbeddedWorld } from './embedded-world.ts'
import { projectFile, tidemark, tidemarkJson } from './recorded-host.ts'

const verifying = (world: EmbeddedWorld, ...more: readonly string[]): readonly string[] => [
  ...['verify', ...world.places, ...world.names, '--project', projectFile],
  ...more,
]

describe('verify', () => {
  it('[CLI-1] [CLI-4] equal: what was compared, and no byte changed', async () => {
    const world = await createEmbeddedWorld()
    const before = world.storeFiles()
    expect(await tidemarkJson(verifying(world))).toMatchObject({
      version: 1,
      command: 'verify',
      verdict: 'equal',
      exitCode: 0,
      recordsRead: 10,
      keysCompared: 3,
      differences: { total: 0, items: [] },
    })
    expect(world.storeFiles()).toEqual(before)
  })

  it('[CLI-4] different: missing, changed and superfluous parts, for programs and for people', async () => {
    const world = await createEmbeddedWorld()
    await world.damage(removeKey('convs:u0'))
    await world.damage(async (storage) => {
      await storage.step(() => ({
        outcome: undefined,
        writes: [
          { op: 'zadd', key: 'convs:u1', mode: 'ANY', score: 1, member: 'c1' },
          { op: 'zadd', key: 'convs:u1', mode: 'ANY', score: 7, member: 'strange' },
        ],
      }))
    })
    const report = await tidemarkJson<VerifyReport>(verifying(world))
    expect(report).toMatchObject({ verdict: 'different', exitCode: 6, differences: { total: 2 } })
    const [first, second] = report.differences.items
    expect(first).toMatchObject({ key: 'convs:u0', against: 'log', expected: 'sorted-set', found: 'absent' })
    expect(second!.parts.items).toEqual([
      { part: 'c1', expected: '1001', found: '1' },
      { part: 'strange', found: '7' },
    ])
    const { stdout } = await tidemark(verifying(world))
    expect(stdout).toContain('convs:u0: served is absent, due is sorted-set\n  c0: missing, the log says 1000\n')
    expect(stdout).toContain(
      'convs:u1\n  c1: 1 is served, the log says 1001\n  strange: 7 is served, the log says nothing\n',
    )
  })

  it('[CLI-4] unverifiable: no history, no room, another topic', async () => {
    const world = await createEmbeddedWorld()
    const code = { verdict: 'unverifiable', exitCode: 9, error: { code: 'TM_CHECKPOINT_VERIFY_FAILED' } }
    expect(await tidemarkJson(verifying(world, '--keys-max', '1'))).toMatchObject(code)
    expect(await tidemarkJson(verifying(world, '-t', 'other'))).toMatchObject(code)
    expect(await tidemarkJson(verifying(world, '-n', 'other'))).toMatchObject(code)
    await world.produce((producer) => producer.deleteRecordsBefore(topic, 0, 2n as never))
    expect(await tidemarkJson(verifying(world))).toMatchObject(code)
  })

  it('[CLI-4] unverifiable: a compacted topic, unless the latest record per key is declared to suffice', async () => {
    const world = await createEmbeddedWorld()
    const names = readdirSync(world.logDirectory, { recursive: true, encoding: 'utf8' })
    const file = join(
      world.logDirectory,
      names.find((name) => name.endsWith(`${topic}.json`))!,
    )
    writeFileSync(file, readFileSync(file, 'utf8').replace('"delete"', '"compact"'))
    const report = await tidemarkJson<ErrorReport>(verifying(world))
    expect(report).toMatchObject({ verdict: 'unverifiable', exitCode: 9 })
    expect(report.error.message).toContain('cleanup.policy is compact')
    const declared = await tidemarkJson(verifying(world, '--latest-record-per-key-suffices'))
    expect(declared).toMatchObject({ verdict: 'equal', keysCompared: 3 })
  })

  it('[CLI-4] a module that cannot be used is said before anything is opened; one that throws is not its records’ fault', async () => {
    const world = await createEmbeddedWorld()
    const invalid = { verdict: 'usage', exitCode: 2, error: { code: 'TM_CLI_PROJECT_INVALID' } }
    for (const more of [
      ['--export', 'nothing'],
      ['--export', 'wrong'],
      ['--project', './none.ts'],
    ]) {
      expect(await tidemarkJson(verifying(world, ...more))).toMatchObject(invalid)
    }
    const failing = await tidemarkJson<ErrorReport>(verifying(world, '--export', 'failing'))
    expect(failing).toMatchObject({ verdict: 'failed', exitCode: 1, error: { code: 'TM_CLI_PROJECT_FAILED' } })
    expect(failing.error.message).toMatch(/threw: a fault of the host \(partition \d, offset 0\)$/)
  })

  it('[CLI-4] [CLI-6] ends when interrupted, without a verdict', async () => {
    const world = await createEmbeddedWorld()
    const controller = new AbortController()
    controller.abort()
    const ran = await tidemarkJson(verifying(world), { signal: controller.signal })
    expect(ran).toMatchObject({ verdict: 'interrupted', exitCode: 130, error: { code: 'TM_CORE_CANCELLED' } })
  })
})

const rebuilding = (world: EmbeddedWorld, into: string, ...more: readonly string[]): readonly string[] => [
  ...['rebuild', ...world.places, ...world.names, '--project', projectFile, '--into', into],
  ...['--data', 'new-prefix', '--new-data-prefix', 'v2:', '--ready-target', 'hw', '--undecodable', 'quarantine'],
  ...more,
]

describe('rebuild', () => {
  it('[CLI-1] [CLI-5] is a look unless told otherwise', async () => {
    const world = await createEmbeddedWorld()
    const before = world.storeFiles()
    const report = await tidemarkJson<RebuildReport>(rebuilding(world, 'sessions2'))
    expect(report).toMatchObject({
      verdict: 'would-start',
      exitCode: 0,
      executed: false,
      plan: { partitions: 2, toRead: '10' },
    })
    expect(world.storeFiles()).toEqual(before)
    const { stdout } = await tidemark(rebuilding(world, 'sessions2'))
    expect(stdout).toContain('Nothing was changed. To rebuild, repeat the command with --execute sessions2')
  })

  it('[CLI-5] with the new namespace repeated it rebuilds up to the target; the service can go on from there', async () => {
    const world = await createEmbeddedWorld()
    await world.produce(async (producer) => void (await producer.append(topic, dispatches(5, 10))))
    const report = await tidemarkJson<RebuildReport>(rebuilding(world, 'sessions2', '--execute', 'sessions2'))
    expect(report).toMatchObject({
      verdict: 'rebuilt',
      exitCode: 0,
      executed: true,
      applied: { records: 15, quarantined: 0 },
    })
    const verified = await tidemarkJson(verifying(world, '-n', 'sessions2', '--data-prefix', 'v2:'))
    expect(verified).toMatchObject({ verdict: 'equal', recordsRead: 15 })
    const old = await tidemarkJson<InspectReport>(['inspect', ...world.places.slice(0, 2), '-n', 'sessions'])
    expect(old.partitions.items.map(({ next }) => next)).toEqual(['5', '5'])
  })

  it('[CLI-5] another name after --execute refuses before anything is opened', async () => {
    const world = await createEmbeddedWorld()
    const before = world.storeFiles()
    for (const name of ['sessions', 'Sessions2', 'sessions2 ']) {
      const report = await tidemarkJson<ErrorReport>(rebuilding(world, 'sessions2', '--execute', name))
      expect(report).toMatchObject({ verdict: 'usage', exitCode: 2, error: { code: 'TM_CLI_CONFIRMATION_MISMATCH' } })
    }
    const { exitCode } = await tidemark(rebuilding(world, 'sessions2', '--execute', ''))
    expect(exitCode).toBe(2)
    expect(world.storeFiles()).toEqual(before)
  })

  it('[CLI-5] is refused where the library refuses it, looked at or executed, and changes nothing', async () => {
    const world = await createEmbeddedWorld()
    const before = world.storeFiles()
    const same = rebuilding(world, 'sessions')
    for (const args of [same, [...same, '--execute', 'sessions']]) {
      const report = await tidemarkJson<RebuildReport>(args)
      expect(report).toMatchObject({ verdict: 'refused', exitCode: 3 })
      expect(report.problems.items.map(({ code }) => code)).toEqual(['SAME_NAMESPACE', 'NAMESPACE_NOT_EMPTY'])
    }
    const shared = rebuilding(world, 'sessions2', '--data', 'shared', '--keeps-old-data', '--new-data-prefix', '')
    const { problems } = await tidemarkJson<RebuildReport>(shared)
    expect(problems.items.map(({ code }) => code)).toEqual(['WRITES_DO_NOT_COMMUTE'])
    const stored = Object.keys(world.storeFiles()).sort()
    expect(stored).toEqual(Object.keys(before).sort())
    await world.produce((producer) => producer.deleteRecordsBefore(topic, 0, 2n as never))
    const incomplete = await tidemarkJson<RebuildReport>(rebuilding(world, 'sessions2'))
    expect(incomplete).toMatchObject({ verdict: 'refused', refusals: { items: [{ code: 'LOW_NOT_ZERO' }] } })
  })

  it('[CLI-5] [CLI-6] a projection that goes dirty on the way is said with its reason and page', async () => {
    const world = await createEmbeddedWorld()
    const report = await tidemarkJson<RebuildReport>(
      rebuilding(world, 'sessions2', '--export', 'failing', '--execute', 'sessions2'),
    )
    expect(report).toMatchObject({
      verdict: 'dirty',
      exitCode: 8,
      dirty: { code: 'PROJECT_FAILED', runbook: 'docs/runbook/dirty/project-failed.md' },
    })
  })

  it('[CLI-5] what decides correctness must be said', async () => {
    const world = await createEmbeddedWorld()
    const words = ['--ready-target', '--undecodable', '--data', '--into', '--project', '--namespace', '--topic']
    const full = rebuilding(world, 'sessions2')
    for (const word of words) {
      const short = { '--namespace': '-n', '--topic': '-t' }[word] ?? word
      const at = full.indexOf(short)
      const { exitCode, stderr } = await tidemark(full.filter((_, index) => index !== at && index !== at + 1))
      expect({ word, exitCode }).toEqual({ word, exitCode: 2 })
      expect(stderr).toContain(word)
    }
    const unsaid = await tidemark(rebuilding(world, 'sessions2', '--data', 'shared'))
    expect(unsaid).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--keeps-old-data') })
  })

  it('[CLI-5] ends when interrupted and says what stays', async () => {
    const world = await createEmbeddedWorld()
    // An open transaction holds the high watermark back, so that ready never comes.
    const controller = new AbortController()
    await world.produce(async (producer) => {
      const transaction = producer.beginTransaction()
      await transaction.append(topic, dispatches(2, 10))
      setTimeout(() => controller.abort(), 1_000)
      const args = rebuilding(world, 'sessions2', '--execute', 'sessions2', '--quiet')
      const { exitCode, stdout } = await tidemark(args, { signal: controller.signal })
      expect(exitCode).toBe(130)
      expect(stdout).toContain('interrupted  sessions2, beside sessions')
      expect(stdout).toContain('Start the service on sessions2 to go on')
      await transaction.abort()
    })
  })

  it('[CLI-5] a damaged old namespace does not stop a rebuild beside it', async () => {
    const world = await createEmbeddedWorld()
    await world.damage(setField('sessions:meta', 'topic_id', 'x'))
    const report = await tidemarkJson<RebuildReport>(rebuilding(world, 'sessions2', '--execute', 'sessions2'))
    expect(report.verdict).toBe('rebuilt')
  })
})
