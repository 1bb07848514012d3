import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { encodeOwner } from '@tidemark/core/exclusive-lock'
import type { LockOwner, ProcessSighting } from '@tidemark/core/exclusive-lock'
import { afterAll, describe, expect, it } from 'vitest'
import { takeExclusiveLock } from '../src/pglite/exclusive-lock.ts'
import { machineOf } from '../src/pglite/here-and-now.ts'

const here = { host: 'h1', pidNamespace: 'pid:[1]', bootId: 'b1' }
const owner: LockOwner = { ...here, pid: 42, startTicks: '900', nonce: 'ab'.repeat(16) }
const running = (startTicks: string | undefined) => (): ProcessSighting => ({ kind: 'running', startTicks })
const gone = (): ProcessSighting => ({ kind: 'gone' })

describe('the machine of an owner', () => {
  it('[PGS-22] names its machine by a digest, and by nothing where the machine has no id', () => {
    const id = '0123456789abcdef0123456789abcdef'
    expect(machineOf(`${id}\n`)).toMatch(/^[0-9a-f]{32}$/)
    expect(machineOf(`${id}\n`)).toBe(machineOf(id))
    expect(machineOf(id)).not.toBe(id)
    expect(machineOf(id)).not.toBe(machineOf(id.replace('0', '1')))
    for (const none of [undefined, '', 'uninitialized\n', `${id}0`]) expect(machineOf(none)).toBeUndefined()
  })
})

describe('an exclusive lock', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidemark-lock-'))
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  let files = 0
  const options = (look: (pid: number) => ProcessSighting) => {
    files += 1
    const file = join(folder, `lock${files}`)
    return { file, auditFile: `${file}.audit`, here, look, nowMs: () => 1_700_000_000_000 }
  }

  it('[PGS-21] is refused while its owner runs, naming the owner and why', () => {
    const taken = options(running('7'))
    const lock = takeExclusiveLock(taken)
    expect(() => takeExclusiveLock(taken)).toThrow(
      expect.objectContaining({
        code: 'TM_POSTGRES_DIRECTORY_LOCKED',
        details: { file: taken.file, owner: `process ${process.pid} on h1`, reason: `process ${process.pid} runs` },
      }),
    )
    lock.verify()
    lock.release()
    takeExclusiveLock(taken).release()
    expect(readdirSync(folder).filter((name) => name.startsWith('lock1'))).toEqual([])
  })

  it('[PGS-22] is taken over from the dead, once, with a line of audit', () => {
    const stale = options(running('7'))
    writeFileSync(stale.file, encodeOwner({ ...owner, startTicks: '6' }))
    const lock = takeExclusiveLock(stale)
    const audit = readFileSync(stale.auditFile, 'utf8').trim().split('\n')
    expect(audit).toHaveLength(1)
    expect(JSON.parse(audit[0]!)).toMatchObject({
      at: '2023-11-14T22:13:20.000Z',
      event: 'taken-over',
      from: { pid: 42 },
      by: { pid: process.pid },
    })
    expect(() => takeExclusiveLock(stale)).toThrow(expect.objectContaining({ code: 'TM_POSTGRES_DIRECTORY_LOCKED' }))
    lock.release()
  })

  it('[PGS-22] of a foreign host or of nobody stays, byte for byte', () => {
    for (const text of [encodeOwner({ ...owner, host: 'h2' }), '', 'garbage']) {
      const foreign = options(gone)
      writeFileSync(foreign.file, text)
      expect(() => takeExclusiveLock(foreign)).toThrow(
        expect.objectContaining({ code: 'TM_POSTGRES_DIRECTORY_LOCKED' }),
      )
      expect(readFileSync(foreign.file, 'utf8')).toBe(text)
    }
  })

  it('[PGS-21] tells its holder when the file was removed or replaced, and then removes nothing', () => {
    const lost = options(running('7'))
    const lock = takeExclusiveLock(lost)
    rmSync(lost.file)
    expect(() => lock.verify()).toThrow(expect.objectContaining({ code: 'TM_POSTGRES_DIRECTORY_LOST' }))
    const next = takeExclusiveLock(lost)
    lock.release()
    next.verify()
  })
})
