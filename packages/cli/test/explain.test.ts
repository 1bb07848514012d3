import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { explainStart } from '@tidemark/checkpoint'
import { createMemoryServer, createTransactionalMemoryProjectionStore } from '@tidemark/checkpoint/memory'
import type { ErrorReport, ExplainReport } from '@tidemark/cli'
import { createEmbeddedLog } from '@tidemark/embedded'
import { renderExplain } from '../src/render/render-explain.ts'
import { styleOf } from '../src/render/style.ts'
import { explainReport } from '../src/reports/explain-report.ts'
import { createEmbeddedWorld, dispatches, removeKey, setField, topic } from './embedded-world.ts'
import { tidemark, tidemarkJson } from './recorded-host.ts'

const target = ['--ready-target', 'hw']

describe('explain', () => {
  it('[CLI-2] tells a start that would go through: positions, target, headroom, what is to be read', async () => {
    const world = await createEmbeddedWorld()
    await world.produce(async (producer) => void (await producer.append(topic, dispatches(3, 10))))
    const report = await tidemarkJson<ExplainReport>(['explain', ...world.places, ...world.names, ...target])
    expect(report).toMatchObject({
      version: 1,
      command: 'explain',
      verdict: 'would-start',
      exitCode: 0,
      namespace: 'sessions',
      topic,
      toRead: '3',
      creates: { meta: false, checkpoints: 0 },
      log: { cleanupPolicy: 'delete', retentionMs: '-1', identity: { partitionCount: 2 } },
      refusals: { total: 0, items: [] },
    })
    const columns = { low: '0', openTransaction: '0', origin: 'checkpoint', refused: false }
    expect(report.partitions).toEqual({
      total: 2,
      items: [
        {
          ...columns,
          partition: 0,
          next: '5',
          lastStableOffset: '7',
          highWatermark: '7',
          target: '7',
          headroom: '5',
          toRead: '2',
        },
        {
          ...columns,
          partition: 1,
          next: '5',
          lastStableOffset: '6',
          highWatermark: '6',
          target: '6',
          headroom: '5',
          toRead: '1',
        },
      ],
    })
  })

  it('[CLI-2] a first start says what it would create', async () => {
    const world = await createEmbeddedWorld()
    const names = ['-n', 'fresh', '-t', topic]
    const report = await tidemarkJson<ExplainReport>(['explain', ...world.places, ...names, ...target])
    expect(report).toMatchObject({ verdict: 'would-start', creates: { meta: true, checkpoints: 2 }, toRead: '10' })
    expect(report.partitions.items.map(({ origin }) => origin)).toEqual(['first-start', 'first-start'])
    expect(report.hint).toMatch(/^Nothing is stored under fresh: .*look at the name/)
    const known = await tidemarkJson<ExplainReport>(['explain', ...world.places, ...world.names, ...target])
    expect(known).not.toHaveProperty('hint')
  })

  it('[CLI-2] a first start on a transactional store has a question left open, for programs and for people', async () => {
    const world = await createEmbeddedWorld()
    const nonce = () => 'ab'.repeat(16)
    const server = createMemoryServer({ nonce })
    const store = createTransactionalMemoryProjectionStore({ namespace: 'fresh', server, nonce, isEmpty: () => false })
    const log = createEmbeddedLog({ directory: world.logDirectory })
    const explanation = await explainStart({ topic, log, store, readyTarget: 'hw', inspectMsMax: 1_000 })
    const report = explainReport({ store: 's', log: 'l' }, explanation, 40)
    expect(report).toMatchObject({
      verdict: 'would-start',
      leftOpen: { total: 1, items: [{ code: 'DATA_NOT_EMPTY', message: expect.stringContaining('isEmpty') }] },
    })
    expect(renderExplain(report, styleOf(false)).join('\n')).toMatch(/\n\nleft open\n {2}DATA_NOT_EMPTY: .*isEmpty/)
    const known = await tidemark(['explain', ...world.places, ...world.names, ...target])
    expect(known.stdout).not.toContain('left open')
  })

  it('[CLI-1] [CLI-2] lists every refusal at once with values, remedy and page, and changes no byte', async () => {
    const world = await createEmbeddedWorld()
    await world.damage(setField(`sessions:checkpoint:${topic}:0`, 'next_offset', '99'))
    await world.damage(removeKey('sessions:meta'))
    const before = world.storeFiles()
    const report = await tidemarkJson<ExplainReport>(['explain', ...world.places, ...world.names, ...target])
    expect(report).toMatchObject({ verdict: 'refused', exitCode: 3 })
    expect(report.refusals.items.map(({ code }) => code)).toEqual(['CHECKPOINTS_WITHOUT_META', 'NEXT_ABOVE_HIGH'])
    expect(report.refusals.items[1]).toMatchObject({
      partition: 0,
      values: { next: '99', gap: '94' },
      remedy: expect.stringContaining('before you rebuild'),
      runbook: 'docs/runbook/refusals/next-above-high.md',
    })
    expect(report.partitions.items[0]).toMatchObject({ partition: 0, next: '99', refused: true, headroom: '99' })
    expect(world.storeFiles()).toEqual(before)
  })

  it('[CLI-2] a recreated topic is refused by its id; an unknown one is refused, not waited for', async () => {
    const world = await createEmbeddedWorld()
    const other = ['-n', 'sessions', '-t', 'other']
    const unknown = await tidemarkJson<ExplainReport>(['explain', ...world.places, ...other, ...target])
    expect(unknown).toMatchObject({ verdict: 'refused', exitCode: 3 })
    expect(unknown.refusals.items.map(({ code }) => code)).toContain('IDENTITY_UNPROVEN')
    const remedy = unknown.refusals.items.find(({ code }) => code === 'IDENTITY_UNPROVEN')!.remedy
    expect(remedy).toMatch(/does not know the topic.*name/)
    expect(remedy).not.toContain('KIP-516')
    await world.produce(async (producer) => void (await producer.recreateTopic(topic)))
    const recreated = await tidemarkJson<ExplainReport>(['explain', ...world.places, ...world.names, ...target])
    expect(recreated.refusals.items.map(({ code }) => code)).toContain('TOPIC_ID')
    await world.produce(async (producer) => {
      await producer.deleteTopic(topic)
      await producer.createTopic(topic, { partitionCount: 1 })
    })
    const args = ['explain', ...world.places, ...world.names, ...target, '--deep']
    await world.damage(setField(`sessions:checkpoint:${topic}:70000`, 'next_offset', '1'))
    const smaller = await tidemarkJson<ExplainReport>(args)
    const advice = smaller.refusals.items.map((item) => [`${item.code}@${item.partition ?? ''}`, item.remedy] as const)
    expect(advice.map(([code]) => code)).toEqual([
      ...['TOPIC_ID@', 'PARTITION_COUNT@', 'EXTRA_CHECKPOINT@1', 'NEXT_ABOVE_HIGH@0', 'EXTRA_CHECKPOINT@70000'],
    ])
    for (const [, remedy] of advice.slice(1)) expect(remedy).toMatch(/^Settle TOPIC_ID first/)
  })

  it.each([
    ['a segment', /0\/[0-9]+\.segment$/, 'WITNESS_UNPROVEN'],
    ['the bounds of a partition', /0\/bounds$/, 'BOUNDS_UNREADABLE'],
    ["the topic's own file", /topics\/dispatch\.json$/, 'IDENTITY_UNPROVEN'],
    ["the log's own file", /log\.json$/, 'IDENTITY_UNPROVEN'],
  ])('[CLI-6] [EMB-11] damage to %s of an embedded log is damage, not an answer to wait for', async (_, name, code) => {
    const world = await createEmbeddedWorld()
    const names = readdirSync(world.logDirectory, { recursive: true, encoding: 'utf8' })
    const file = join(
      world.logDirectory,
      names.find((each) => name.test(each))!,
    )
    const bytes = readFileSync(file)
    const at = Math.floor(bytes.length / 2)
    writeFileSync(file, code === 'BOUNDS_UNREADABLE' ? bytes.fill(1) : bytes.fill(bytes[at]! ^ 1, at, at + 1))
    if (code === 'IDENTITY_UNPROVEN') writeFileSync(file, bytes.subarray(0, at))
    const report = await tidemarkJson<ExplainReport>(['explain', ...world.places, ...world.names, ...target])
    expect(report).toMatchObject({ verdict: 'damaged', exitCode: 4 })
    expect(report.refusals.items).toMatchObject([{ code, values: { reason: 'damaged' } }])
    // What an operator must decide is told as that, whatever else is damaged.
    await world.damage(setField(`sessions:checkpoint:${topic}:1`, 'next_offset', '007'))
    const both = await tidemarkJson<ExplainReport>(['explain', ...world.places, ...world.names, ...target])
    expect(both).toMatchObject({ verdict: 'refused', exitCode: 3 })
  })

  it('[CLI-2] --deep finds a checkpoint that a start does not look for', async () => {
    const world = await createEmbeddedWorld()
    await world.damage(setField(`sessions:checkpoint:${topic}:70000`, 'next_offset', '1'))
    await world.damage(setField('sessions:what', 'x', '1'))
    const args = ['explain', ...world.places, ...world.names, ...target]
    expect((await tidemark(args)).exitCode).toBe(0)
    const deep = await tidemarkJson<ExplainReport>([...args, '--deep'])
    expect(deep).toMatchObject({
      verdict: 'refused',
      refusals: { items: [{ code: 'EXTRA_CHECKPOINT', partition: 70_000 }] },
    })
    expect(deep.deep!.strays).toEqual({ total: 2, items: [`sessions:checkpoint:${topic}:70000`, 'sessions:what'] })
  })

  it('[CLI-10] a place without a log or a store is said, and nothing is created there', async () => {
    const world = await createEmbeddedWorld()
    const nowhere = `${world.storeDirectory}-none`
    const store = await tidemarkJson<ErrorReport>([
      ...['explain', '--embedded', nowhere, ...world.places.slice(2)],
      ...[...world.names, ...target],
    ])
    expect(store).toMatchObject({ verdict: 'unavailable', exitCode: 5, error: { code: 'TM_EMBEDDED_STORAGE_MISSING' } })
    const log = await tidemarkJson<ExplainReport>([
      ...['explain', ...world.places.slice(0, 2), '--embedded-log', nowhere],
      ...[...world.names, ...target],
    ])
    expect(log).toMatchObject({
      verdict: 'unavailable',
      exitCode: 5,
      refusals: { items: [{ code: 'IDENTITY_UNPROVEN' }] },
    })
    const again = await tidemark(['inspect', '--embedded', nowhere, '-n', 'x'])
    expect(again.exitCode).toBe(5)
  })

  it('[CLI-11] for people: a verdict first, then facts, reasons and a table', async () => {
    const world = await createEmbeddedWorld()
    await world.damage(setField(`sessions:checkpoint:${topic}:1`, 'next_offset', '007\u001b[2J'))
    const { stdout, exitCode, stderr } = await tidemark(['explain', ...world.places, ...world.names, ...target])
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: '' })
    const lines = stdout.split('\n')
    expect(lines[0]).toBe('refused  sessions from dispatch: 1 reason')
    expect(stdout).toContain(
      'UNPARSEABLE\n  partition 1: sessions:checkpoint:dispatch:1: next_offset is "007\\u001b[2J"\n',
    )
    expect(lines.filter((line) => /^ +\d+ /.test(line))).toEqual([
      '        1     -    0       5     5       0         -        -  refused',
      '        0     5    0       5     5       0         5        0',
    ])
    expect(stdout).not.toContain('\u001b')
    const colored = await tidemark(['explain', ...world.places, ...world.names, ...target], { isTTY: true })
    expect(colored.stdout).toContain('\u001b[31m\u001b[1mrefused\u001b[22m\u001b[39m')
  })
})
