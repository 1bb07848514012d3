import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createEmbeddedDataReader,
  createEmbeddedProjectionStore,
  createEmbeddedStorage,
  createEmbeddedStorageView,
  createEmbeddedStoreInspector,
} from '@tidemark/embedded'
import type { EmbeddedStorage } from '@tidemark/embedded'
import { temporaryDirectory } from '../temporary-directory.ts'

const namespace = 'sessions'
const put = (storage: EmbeddedStorage, key: string, value: string): Promise<void> =>
  storage.step(() => ({ outcome: undefined, writes: [{ op: 'set', key, value }] }))
const set = (storage: EmbeddedStorage, key: string, field: string, value: string): Promise<void> =>
  storage.step(() => ({ outcome: undefined, writes: [{ op: 'hset', key, field, value }] }))

function filesOf(directory: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    readdirSync(directory)
      .sort()
      .map((name) => [name, readFileSync(join(directory, name)).toString('base64')]),
  )
}

describe('a view of a storage', () => {
  it('[EMB-19] shows what is stored while the writer holds the lock, as of one moment, and changes no file', async () => {
    const directory = temporaryDirectory()
    const storage = await createEmbeddedStorage({ directory, durability: 'server' })
    await put(storage, 'a', '1')
    const before = filesOf(directory)
    const view = await createEmbeddedStorageView({ directory })
    const store = createEmbeddedProjectionStore({ storage: view, namespace })
    expect(await createEmbeddedDataReader({ storage: view }).readValues(['a', 'b'])).toEqual([
      { kind: 'string', value: '1' },
      { kind: 'absent' },
    ])
    expect((await store.read({ topic: 't', partitionCount: 1 })).checkpoints.size).toBe(0)
    expect(filesOf(directory)).toEqual(before)
    await put(storage, 'a', '2')
    expect(await createEmbeddedDataReader({ storage: view }).readValues(['a'])).toEqual([
      { kind: 'string', value: '1' },
    ])
    await expect(store.claim({ topic: 't', partitionCount: 1 })).rejects.toMatchObject({
      code: 'TM_EMBEDDED_READ_ONLY',
    })
    await view.close()
    await expect(store.read({ topic: 't', partitionCount: 1 })).rejects.toMatchObject({ code: 'TM_EMBEDDED_CLOSED' })
    await put(storage, 'a', '3')
    await storage.close()
  })

  it('[EMB-19] tells the durability of the writer from its first step on, beside it and after it; opening alone changes nothing', async () => {
    const directory = temporaryDirectory()
    const told = async (): Promise<readonly string[]> => {
      const view = await createEmbeddedStorageView({ directory })
      const store = createEmbeddedProjectionStore({ storage: view, namespace })
      const { facts } = await store.read({ topic: 't', partitionCount: 1 })
      await view.close()
      return [view.durability, facts.durability, store.name]
    }
    const fsync = ['fsync', 'fsync', 'embedded fsync']
    const server = ['server', 'server', 'embedded server']
    for (const [durability, expected] of [
      ['fsync', fsync],
      ['server', server],
      ['fsync', fsync],
      ['fsync', fsync],
      ['server', server],
    ] as const) {
      const before = readdirSync(directory).length > 0 ? filesOf(directory) : undefined
      const unchanged = await createEmbeddedStorage({ directory, durability, compactAtBytes: 1_024 })
      await unchanged.close()
      expect(filesOf(directory)).toEqual(before ?? filesOf(directory))
      const storage = await createEmbeddedStorage({ directory, durability, compactAtBytes: 1_024 })
      if (before === undefined) expect(await told()).toEqual(expected)
      await put(storage, 'a', 'x'.repeat(2_000))
      expect(await told()).toEqual(expected)
      await put(storage, 'a', '1')
      await storage.close()
      expect(await told()).toEqual(expected)
    }
  })

  it('[EMB-19] leaves out a step cut off by a crash, and the file as it is', async () => {
    const directory = temporaryDirectory()
    const storage = await createEmbeddedStorage({ directory, durability: 'server' })
    await put(storage, 'a', '1')
    await storage.close()
    const journal = readdirSync(directory).find((name) => name.endsWith('.journal'))!
    const whole = readFileSync(join(directory, journal))
    writeFileSync(join(directory, journal), whole.subarray(0, whole.length - 3))
    const before = filesOf(directory)
    const view = await createEmbeddedStorageView({ directory })
    expect([...view.data.values.keys()]).toEqual([])
    expect(filesOf(directory)).toEqual(before)
  })

  it('[EMB-19] a directory without a storage is told and not created; damage and strangers are named', async () => {
    const directory = temporaryDirectory()
    const missing = join(directory, 'none')
    const code = (error: string) => ({ code: error })
    await expect(createEmbeddedStorageView({ directory: missing })).rejects.toMatchObject(
      code('TM_EMBEDDED_STORAGE_MISSING'),
    )
    expect(existsSync(missing)).toBe(false)
    await expect(createEmbeddedStorageView({ directory })).rejects.toMatchObject(code('TM_EMBEDDED_STORAGE_MISSING'))
    writeFileSync(join(directory, 'notes.txt'), 'x')
    await expect(createEmbeddedStorageView({ directory })).rejects.toMatchObject(code('TM_EMBEDDED_DIRECTORY_FOREIGN'))
    const damaged = temporaryDirectory()
    const storage = await createEmbeddedStorage({ directory: damaged, durability: 'server' })
    await put(storage, 'a', '1')
    await storage.close()
    const snapshot = readdirSync(damaged).find((name) => name.endsWith('.snapshot'))!
    await appendFile(join(damaged, snapshot), 'garbage')
    await expect(createEmbeddedStorageView({ directory: damaged })).rejects.toMatchObject(code('TM_EMBEDDED_DAMAGED'))
  })

  it('[EMB-19] is whole while the writer starts generation after generation', async () => {
    const directory = temporaryDirectory()
    const storage = await createEmbeddedStorage({ directory, durability: 'server', compactAtBytes: 1_024 })
    let writing = true
    const writer = (async () => {
      for (let n = 0; writing; n += 1) {
        await storage.step(() => ({
          outcome: undefined,
          writes: ['a', 'b'].map((key) => ({ op: 'set' as const, key, value: `${n}`.padEnd(200, '.') })),
        }))
      }
    })()
    let seen = 0
    for (let look = 0; look < 50; look += 1) {
      const view = await createEmbeddedStorageView({ directory })
      const [a, b] = await createEmbeddedDataReader({ storage: view }).readValues(['a', 'b'])
      expect(a).toEqual(b)
      if (a?.kind === 'string') seen += 1
    }
    writing = false
    await writer
    await storage.close()
    expect(seen).toBeGreaterThan(10)
  })
})

describe('looking into a namespace', () => {
  it('[EMB-19] lists the newest quarantine entries and every key, in pages', async () => {
    const directory = temporaryDirectory()
    const storage = await createEmbeddedStorage({ directory, durability: 'server' })
    for (const offset of [9, 100, 20]) {
      await set(storage, `${namespace}:quarantine:t:0`, String(offset), `entry ${offset}`)
    }
    for (let n = 0; n < 1_500; n += 1) await put(storage, `${namespace}:x:${n}`, '')
    await put(storage, 'sessions2:meta', '')
    const view = await createEmbeddedStorageView({ directory })
    const inspector = createEmbeddedStoreInspector({ storage: view, namespace })
    expect(await inspector.readQuarantine({ topic: 't', partition: 0, entriesMax: 2 })).toEqual({
      total: 3,
      newest: [
        { offset: '100', text: 'entry 100' },
        { offset: '20', text: 'entry 20' },
      ],
    })
    expect(await inspector.readQuarantine({ topic: 't', partition: 1, entriesMax: 2 })).toEqual({
      total: 0,
      newest: [],
    })
    const pages: (readonly string[])[] = []
    for await (const page of inspector.scanKeys()) pages.push(page)
    expect(pages.map(({ length }) => length)).toEqual([1_000, 501])
    expect(pages.flat().every((key) => key.startsWith(`${namespace}:`))).toBe(true)
    await inspector.close()
    await storage.close()
  })
})
