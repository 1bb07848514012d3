import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import {
  checkpointErrors,
  checkpointKey,
  dirtyCatalogue,
  dirtyRunbook,
  encodeQuarantineEntry,
  metaKey,
  namespaceOf,
  QUARANTINE_REASON_LENGTH_MAX,
  quarantineEntryOf,
  refusalCatalogue,
  refusalRunbook,
  renderRefusals,
  planStart,
  topicNameOf,
} from '@tidemark/checkpoint'
import { isTidemarkError, isWellFormed, offsetOf } from '@tidemark/core'
import type { LogRecord } from '@tidemark/log'
import { describe, expect, it } from 'vitest'
import { input, stored } from './planner-input.ts'

const record = (changed: Partial<LogRecord> = {}): LogRecord => ({
  partition: 3,
  offset: offsetOf(2n ** 53n + 1n),
  leaderEpoch: 0,
  timestampMs: 1_700_000_000_000,
  key: null,
  value: new TextEncoder().encode('not a dispatch'),
  headers: [],
  ...changed,
})

describe('a quarantine entry', () => {
  it('[CKP-16] says where and why, with a digest instead of the value', () => {
    const entry = quarantineEntryOf(record(), 'no recipients')
    expect(JSON.parse(encodeQuarantineEntry(entry))).toEqual({
      offset: '9007199254740993',
      partition: 3,
      reason: 'no recipients',
      timestampMs: 1_700_000_000_000,
      valueBytes: 14,
      valueDigest: entry.valueDigest,
      v: 1,
    })
    expect(entry.valueDigest).toMatch(/^[0-9a-f]{64}$/)
    expect(encodeQuarantineEntry(entry)).not.toContain('not a dispatch')
    expect(quarantineEntryOf(record({ value: null }), 'x')).toMatchObject({ valueDigest: null, valueBytes: 0 })
    expect(quarantineEntryOf(record({ value: new Uint8Array() }), 'x').valueDigest).not.toBeNull()
  })

  it.each([-1, 2 ** 60, 1.5, Number.NaN, Infinity, -0])('[CKP-16] has a text for the timestamp %s', (timestampMs) => {
    const text = encodeQuarantineEntry(quarantineEntryOf(record({ timestampMs }), 'absurd timestamp'))
    expect(String((JSON.parse(text) as { readonly timestampMs: unknown }).timestampMs)).toBe(String(timestampMs))
  })

  it.each(['\ud800', 'x'.repeat(QUARANTINE_REASON_LENGTH_MAX - 1) + '💧', '💧'.repeat(400), 'line\nbreak"', ''])(
    '[CKP-16] has a text for the reason %j',
    (reason) => {
      const entry = quarantineEntryOf(record(), reason)
      expect(entry.reason.length).toBeLessThanOrEqual(QUARANTINE_REASON_LENGTH_MAX)
      expect(isWellFormed(entry.reason)).toBe(true)
      expect(() => encodeQuarantineEntry(entry)).not.toThrow()
    },
  )
})

describe('namespaces and keys', () => {
  it('[CKP-17] are fixed texts', () => {
    const namespace = namespaceOf('session_projection')
    expect(metaKey(namespace)).toBe('session_projection:meta')
    expect(checkpointKey(namespace, 'dispatch', 12)).toBe('session_projection:checkpoint:dispatch:12')
    expect(namespaceOf('a:b.c-D_9')).toBe('a:b.c-D_9')
  })

  it.each(['', ':a', 'a:', '{a}', 'a}', 'a b', 'a\n', 'é', 'a*', 'x'.repeat(201)])(
    '[CKP-17] the namespace %j is refused',
    (text) => {
      let thrown: unknown
      try {
        namespaceOf(text)
      } catch (error) {
        thrown = error
      }
      expect(isTidemarkError(thrown, 'TM_CHECKPOINT_NAMESPACE_INVALID')).toBe(true)
    },
  )

  it('[CKP-17] topic names are those Kafka allows', () => {
    for (const text of ['dispatch', 'a.b-c_D9', 'x'.repeat(249)]) expect(topicNameOf(text)).toBe(text)
    for (const text of ['', '.', '..', 'a:b', 'a b', 'a\n', 'é', 'x'.repeat(250)]) {
      expect(() => topicNameOf(text)).toThrow(/is not one Kafka allows/)
    }
  })
})

describe('refusals and errors', () => {
  it('[CKP-18] every code has a remedy in whole sentences', () => {
    expect(Object.keys(refusalCatalogue).length).toBeGreaterThan(25)
    for (const remedy of Object.values(refusalCatalogue)) expect(remedy).toMatch(/^[A-Z].*\.$/s)
    for (const code of checkpointErrors.codes) expect(checkpointErrors.remedy(code)).toMatch(/\.$/)
  })

  it('[CKP-18] every reason has its runbook page, and that page begins with the link to cause and remedy', () => {
    const docs = join(import.meta.dirname, '../../../docs')
    const kinds = [
      ['refusals', refusalCatalogue, refusalRunbook],
      ['dirty', dirtyCatalogue, dirtyRunbook],
    ] as const
    for (const [errors, catalogue, pageOf] of kinds) {
      for (const code of Object.keys(catalogue)) {
        const page = readFileSync(join(docs, '..', pageOf(code as never)), 'utf8')
        expect(page.slice(0, page.indexOf('## Look at'))).toContain(`(../../errors/${errors}.md#${code.toLowerCase()})`)
      }
    }
  })

  it('[CKP-18] reasons render a line each, with remedy and page beneath', () => {
    const verdict = planStart(input({ stored: stored([5, 12]), settings: undefined }))
    const text = renderRefusals(verdict.kind === 'refused' ? verdict.refusals : [])
    expect(text.split('\n')).toEqual([
      'start refused for 2 reasons',
      'SETTINGS_UNREADABLE: settings of topic dispatch were not read',
      `  remedy: ${refusalCatalogue.SETTINGS_UNREADABLE}`,
      '  see: docs/runbook/refusals/settings-unreadable.md',
      'NEXT_ABOVE_HIGH [partition 1]: next is 12, the log ends at 9: 3 records are missing',
      `  remedy: ${refusalCatalogue.NEXT_ABOVE_HIGH}`,
      '  see: docs/runbook/refusals/next-above-high.md',
    ])
    expect(renderRefusals([]).split('\n')).toEqual(['start refused for 0 reasons'])
  })
})
