import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { afterAll, describe, expect, it } from 'vitest'
import { openDispatchWriter } from '../src/backend/open-dispatch-writer.ts'
import { openSessionBackend } from '../src/backend/open-session-backend.ts'
import { createTopic } from '../src/backend/topic-admin.ts'
import { runProjector } from '../src/service/run-projector.ts'
import { testSettings } from './test-settings.ts'

const dataDir = mkdtempSync(join(tmpdir(), 'session-lines-'))
afterAll(() => rmSync(dataDir, { recursive: true, force: true }))

describe('the lines of a projector', () => {
  it('say 100 % before they say ready', async () => {
    const places = { log: { kind: 'embedded', dataDir }, store: { kind: 'embedded', dataDir } } as const
    const settings = testSettings({ ...places, topic: 'dispatch', namespace: 'sessions', dataPrefix: '' })
    await createTopic(settings.log, settings.topic, 2)
    const writer = await openDispatchWriter({ place: settings.log, topic: settings.topic, deadlineMs: 60_000 })
    const messages = Array.from({ length: 200 }, (_, n) => {
      const dispatch = { dispatchId: `d${n}`, conversationId: `c${n}`, createdAt: 1_000 + n, recipients: ['u'] }
      return { key: 'u', partition: n % 2, value: new TextEncoder().encode(JSON.stringify(dispatch)) }
    })
    await writer.write(messages, 'commit')
    await writer.close()
    const backend = await openSessionBackend(settings)
    const stop = new AbortController()
    const lines: string[] = []
    const write = (text: string): void => {
      const { msg } = JSON.parse(text) as { readonly msg: string }
      lines.push(msg)
      if (msg.startsWith('ready:')) stop.abort()
    }
    const logger = pino({ level: 'info' }, { write })
    const code = await runProjector({
      settings,
      backend,
      logger,
      stop: stop.signal,
      announce: (text) => lines.push(text),
    })
    expect(code).toBe(0)
    const ready = lines.indexOf('state: ready')
    expect(lines[ready - 1]).toMatch(/^catching up: 100 % \((20\d) of \1 offsets\), 2 of 2 partitions there$/)
    expect(lines.slice(ready)).toContain('ready: every partition reached its target')
  })
})
