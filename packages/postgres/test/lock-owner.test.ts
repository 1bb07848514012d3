import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { takeExclusiveLock } from '../src/pglite/exclusive-lock.ts'
import { machineOf } from '../src/pglite/here-and-now.ts'
import { decodeOwner, encodeOwner, judgeOwner } from '../src/pglite/lock-owner.ts'
import type { LockOwner, ProcessSighting } from '../src/pglite/lock-owner.ts'

const here = { host: 'h1', pidNamespace: 'pid:[1]', bootId: 'b1' }
const owner: LockOwner = { ...here, pid: 42, startTicks: '900', nonce: 'ab'.repeat(16) }
const running = (startTicks: string | undefined) => (): ProcessSighting => ({ kind: 'running', startTicks })
const gone = (): ProcessSighting => ({ kind: 'gone' })

describe('the owner of a lock', () => {
  it.each([
    ['runs', owner, running('900'), 'held'],
    ['is gone', owner, gone, 'dead'],
    ['has an id that another process got', owner, running('901'), 'dead'],
    ['cannot be told from what runs now', owner, running(undefined), 'held'],
    ['did not know its own start', { ...owner, startTicks: 'unknown' }, running('901'), 'held'],
    ['was before the last boot', { ...owner, bootId: 'b0' }, running('900'), 'dead'],
    [
      'was before the last boot, in another namespace',
      { ...owner, bootId: 'b0', pidNamespace: 'pid:[2]' },
      running('900'),
      'dead',
    ],
    ['is on another host', { ...owner, host: 'h2' }, gone, 'held'],
    ['is on another host that booted', { ...owner, host: 'h2', bootId: 'b0' }, gone, 'held'],
    ['is in another process id namespace', { ...owner, pidNamespace: 'pid:[2]' }, gone, 'held'],
  ] as const)('[PGS-22] that %s', (_, held, look, verdict) => {
    expect(judgeOwner(held, here, look).kind).toBe(verdict)
  })

  it.each([
    ['on another machine of that name, which booted at another time', 'm1', 'm2', 'held'],
    ['on this machine before its last boot', 'm1', 'm1', 'dead'],
    ['on a machine without an id, before the last boot', undefined, 'm2', 'dead'],
    ['before the last boot of a machine that has lost its id', 'm1', undefined, 'dead'],
  ] as const)('[PGS-22] that was %s', (_, theirs, ours, verdict) => {
    const of = (machine: string | undefined) => (machine === undefined ? {} : { machine })
    const before = { ...owner, ...of(theirs), bootId: 'b0' }
    expect(judgeOwner(before, { ...here, ...of(ours) }, gone).kind).toBe(verdict)
    expect(decodeOwner(encodeOwner(before))).toEqual(before)
  })

  it('[PGS-22] is on another machine of that name, in whatever running of it', () => {
    expect(judgeOwner({ ...owner, machine: 'm1' }, { ...here, machine: 'm2' }, gone).kind).toBe('held')
  })

  it('[PGS-22] names its machine by a digest, and by nothing where the machine has no id', () => {
    const id = '0123456789abcdef0123456789abcdef'
    expect(machineOf(`${id}\n`)).toMatch(/^[0-9a-f]{32}$/)
    expect(machineOf(`${id}\n`)).toBe(machineOf(id))
    expect(machineOf(id)).not.toBe(id)
    expect(machineOf(id)).not.toBe(machineOf(id.replace('0', '1')))
    for (const none of [undefined, '', 'uninitialized\n', `${id}0`]) expect(machineOf(none)).toBeUndefined()
  })

  it('[PGS-22] is read back exactly, and nothing else is read as one', () => {
    expect(decodeOwner(encodeOwner(owner))).toEqual(owner)
    for (const text of [
      '',
      '{',
      'null',
      '[]',
      '{"v":1}',
      encodeOwner(owner).replace('"v":1', '"v":2'),
      encodeOwner({ ...owner, pid: 0 }),
      encodeOwner({ ...owner, machine: '' }),
    ]) {
      expect(decodeOwner(text), text).toBeUndefined()
    }
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
