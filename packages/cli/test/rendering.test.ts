import { describe, expect, it } from 'vitest'
import { counted, grouped, printable } from '../src/render/printable.ts'
import { renderReasons } from '../src/render/render-reasons.ts'
import { styleOf, wantsColor } from '../src/render/style.ts'
import { textTable } from '../src/render/text-table.ts'
import { boundedMap } from '../src/reports/bounded-list.ts'
import { keyDifference } from '../src/reports/verify-report.ts'
import { createEmbeddedWorld, dispatches, removeKey, setField, topic } from './embedded-world.ts'
import { projectFile, tidemark } from './recorded-host.ts'

const plain = styleOf(false)

describe('text for a terminal', () => {
  it('[CLI-11] shows stored text on one line and gives a terminal nothing to obey', () => {
    const hostile = 'a\r\n\t\u0000\u001b[2J\u009b31m\u007f\u2028\u202ez\u200e'
    expect(printable(hostile)).toBe('a\\u000d\\u000a\\u0009\\u0000\\u001b[2J\\u009b31m\\u007f\\u2028\\u202ez\\u200e')
    expect(printable('x'.repeat(200))).toBe(`${'x'.repeat(160)}…(+40)`)
    expect([grouped(0), grouped(1234n), grouped('1234567'), grouped(-1000)]).toEqual([
      '0',
      '1,234',
      '1,234,567',
      '-1,000',
    ])
  })

  it('[CLI-2] [CLI-3] one is one: every count stands with the word that fits it', async () => {
    expect([counted(1, 'key'), counted('1', 'day'), counted(1024n, 'key'), counted(0, 'entry', 'entries')]).toEqual([
      ...['1 key', '1 day', '1,024 keys', '0 entries'],
    ])
    const world = await createEmbeddedWorld(1, 'server', 1)
    const explain = ['explain', ...world.places, ...world.names, '--ready-target', 'hw', '--deep', '--limit', '1']
    await world.produce(async (producer) => void (await producer.append(topic, dispatches(1))))
    await world.damage(setField('sessions:x', 'a', '1'))
    await world.damage(setField('sessions:y', 'a', '1'))
    const project = ['--project', projectFile]
    const texts = [
      await tidemark(explain),
      await tidemark(['explain', ...world.places, '-n', 'fresh', '-t', topic, '--ready-target', 'hw']),
      await tidemark(['inspect', ...world.places.slice(0, 2), '-n', 'sessions']),
      await tidemark(['verify', ...world.places, ...world.names, ...project]),
      await tidemark([
        ...['rebuild', ...world.places, ...world.names, ...project, '--into', 'sessions2', '--data', 'new-prefix'],
        ...['--new-data-prefix', 'v2:', '--ready-target', 'hw', '--undecodable', 'quarantine'],
      ]),
    ]
    await world.damage(removeKey('convs:u0'))
    texts.push(await tidemark(['verify', ...world.places, ...world.names, ...project]))
    await world.damage(setField(`sessions:checkpoint:${topic}:0`, 'next_offset', '3'))
    texts.push(await tidemark(explain))
    await world.damage(removeKey('sessions:meta'))
    texts.push(await tidemark(explain))
    const text = texts.map(({ stdout }) => stdout).join('\n')
    for (const phrase of [
      '1 partition',
      '1 offset',
      '1 key',
      '1 record',
      '1 checkpoint',
      '1 difference',
      '1 more key',
    ]) {
      expect(text).toMatch(new RegExp(`\\b${phrase}\\b`))
    }
    expect(text).not.toMatch(
      /(?<![,\d])1 (?:more )?(?:partitions|offsets|keys|records|checkpoints|differences|reasons)\b/,
    )
  })

  it('[CLI-11] colours a screen only, and not against NO_COLOR', () => {
    const screen = { write: () => undefined, isTTY: true, columns: 80 }
    const pipe = { ...screen, isTTY: false }
    const rows = [
      [screen, {}, true],
      [pipe, {}, false],
      [screen, { NO_COLOR: '1' }, false],
      [screen, { NO_COLOR: '' }, true],
      [screen, { TERM: 'dumb' }, false],
      [pipe, { FORCE_COLOR: '1' }, true],
      [pipe, { FORCE_COLOR: '0' }, false],
      [screen, { FORCE_COLOR: '1', NO_COLOR: '1' }, false],
    ] as const
    for (const [terminal, env, expected] of rows) expect(wantsColor(terminal, env)).toBe(expected)
  })

  it('aligns a table and leaves out a column that says nothing', () => {
    const rows = [
      { name: 'a', count: 5, note: '' },
      { name: 'longer', count: 1_000, note: '' },
    ]
    const columns = [
      { title: 'name', cell: (row: (typeof rows)[0]) => row.name },
      { title: 'n', right: true, cell: (row: (typeof rows)[0]) => String(row.count) },
      { title: 'note', cell: (row: (typeof rows)[0]) => row.note },
    ]
    expect(textTable(columns, rows, plain)).toEqual(['name       n', 'a          5', 'longer  1000'])
  })

  it('[CLI-9] tells one code of many partitions once, with a few of them', () => {
    const reasons = Array.from({ length: 512 }, (_, partition) => {
      return { code: 'NEXT_BELOW_LOW', partition, message: 'gone', values: {}, remedy: 'Restore.', runbook: 'page.md' }
    })
    const lines = renderReasons(
      boundedMap(reasons, 40, (each) => each),
      plain,
    )
    expect(lines).toEqual([
      '',
      'NEXT_BELOW_LOW',
      ...Array.from({ length: 8 }, (_, partition) => `  partition ${partition}: gone`),
      '  and 32 more partitions (--json lists each)',
      '  remedy  Restore.',
      '  page    page.md',
      '… 472 more reasons; --limit 512 shows all',
    ])
  })

  it('[CLI-9] a key with a hundred thousand members shows ten differing parts and counts the rest', () => {
    const members = Array.from({ length: 100_000 }, (_, n) => `m${n}`)
    const difference = keyDifference({
      key: 'k'.repeat(1_000),
      against: 'log',
      expected: { kind: 'set', members: new Set(members) },
      found: { kind: 'set', members: new Set(members.slice(0, 10)) },
    })
    expect(difference.parts.total).toBe(99_990)
    expect(difference.parts.items.length).toBe(10)
    expect(JSON.stringify(difference).length).toBeLessThan(1_000)
  })
})
