import { decodeOwner, encodeOwner, judgeOwner } from '@tidemark/core/exclusive-lock'
import type { LockOwner, ProcessSighting } from '@tidemark/core/exclusive-lock'
import { describe, expect, it } from 'vitest'

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
  ] as const)('[COR-12] that %s', (_, held, look, verdict) => {
    expect(judgeOwner(held, here, look).kind).toBe(verdict)
  })

  it.each([
    ['on another machine of that name, which booted at another time', 'm1', 'm2', 'held'],
    ['on this machine before its last boot', 'm1', 'm1', 'dead'],
    ['on a machine without an id, before the last boot', undefined, 'm2', 'dead'],
    ['before the last boot of a machine that has lost its id', 'm1', undefined, 'dead'],
  ] as const)('[COR-12] that was %s', (_, theirs, ours, verdict) => {
    const of = (machine: string | undefined) => (machine === undefined ? {} : { machine })
    const before = { ...owner, ...of(theirs), bootId: 'b0' }
    expect(judgeOwner(before, { ...here, ...of(ours) }, gone).kind).toBe(verdict)
    expect(decodeOwner(encodeOwner(before))).toEqual(before)
  })

  it('[COR-12] is on another machine of that name, in whatever running of it', () => {
    expect(judgeOwner({ ...owner, machine: 'm1' }, { ...here, machine: 'm2' }, gone).kind).toBe('held')
  })

  it('[COR-12] is read back exactly, and nothing else is read as one', () => {
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
