import { readdirSync, readFileSync, renameSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { IdempotentWriter } from '@tidemark/checkpoint'
import { createEmbeddedDataReader, createEmbeddedProjectionStore, createEmbeddedStorage } from '@tidemark/embedded'
import { acquireDirectoryLock } from '../../src/files/directory-lock.ts'
import { temporaryDirectory } from '../temporary-directory.ts'
import { advance, begin } from './projection-steps.ts'

const request = { topic: 'dispatch', partitionCount: 2 }

async function opened(directory: string, compactAtBytes?: number) {
  const compaction = compactAtBytes === undefined ? {} : { compactAtBytes }
  const storage = await createEmbeddedStorage({ directory, durability: 'fsync', ...compaction })
  return { storage, store: createEmbeddedProjectionStore({ storage, namespace: 'ns' }) }
}

function journal(directory: string): string {
  return join(
    directory,
    readdirSync(directory).find((name) => name.endsWith('.journal'))!,
  )
}

function snapshot(directory: string): string {
  return join(
    directory,
    readdirSync(directory).find((name) => name.endsWith('.snapshot'))!,
  )
}

/** Three steps of partition 0, closed again. */
async function filled(directory: string): Promise<void> {
  const { storage, store } = await opened(directory)
  const fences = await begin(store)
  for (let from = 0; from < 3; from += 1) {
    const write = (writer: IdempotentWriter): void => writer.zadd('convs:u', 'GT', from, `c${from}`)
    await advance(store, fences, { process: storage.process, partition: 0, from, to: from + 1, write })
  }
  await storage.close()
}

describe('the embedded projection store', () => {
  it('[EMB-1] what was confirmed is there after a reopening, byte-exact', async () => {
    const directory = temporaryDirectory()
    await filled(directory)
    const { storage, store } = await opened(directory)
    const state = await store.read(request)
    expect(Object.entries(state.checkpoints.get(0)!)).toEqual([
      ['format_version', '1'],
      ['dispatch_topic', 'dispatch'],
      ['partition_count', '2'],
      ['cluster_id', 'cluster-a'],
      ['topic_id', 'edbce881-ef7f-96bd-9d9a-2d48fd68e2f5'],
      ['partition', '0'],
      ['next_offset', '3'],
    ])
    expect(state.facts.durability).toBe('fsync')
    const [value] = await createEmbeddedDataReader({ storage }).readValues(['convs:u'])
    expect(value).toEqual({ kind: 'sorted-set', scores: new Map(Object.entries({ c0: 0, c1: 1, c2: 2 })) })
    await storage.close()
  })

  it('[EMB-2] a write that does not fit the data leaves nothing of its step, in memory or on disk', async () => {
    const directory = temporaryDirectory()
    await filled(directory)
    const { storage, store } = await opened(directory)
    const { fences } = await store.claim(request)
    const size = statSync(journal(directory)).size
    const write = (writer: IdempotentWriter): void => {
      writer.sadd('fresh', 'a')
      writer.hset('convs:u', 'f', 'v')
    }
    const step = { process: storage.process, partition: 0, from: 3, to: 4, write }
    await expect(advance(store, fences, step)).rejects.toMatchObject({ code: 'TM_CHECKPOINT_WRITE_INVALID' })
    expect(statSync(journal(directory)).size).toBe(size)
    expect(storage.data.values.has('fresh')).toBe(false)
    expect((await store.read(request)).checkpoints.get(0)!['next_offset']).toBe('3')
    await storage.close()
  })

  it('[EMB-3] a second opener is refused, in the same process too, and the lock goes with its holder', async () => {
    const directory = temporaryDirectory()
    const { storage } = await opened(directory)
    await expect(opened(directory)).rejects.toMatchObject({ code: 'TM_EMBEDDED_LOCKED' })
    await expect(opened(directory)).rejects.toThrow(new RegExp(`process ${process.pid} on`))
    await storage.close()
    const again = await opened(directory)
    await again.storage.close()
  })

  it('[EMB-3] a lock of a process that is gone is taken over; an unreadable one is not guessed about', async () => {
    const directory = temporaryDirectory()
    const first = await opened(directory)
    const path = join(directory, 'writer.lock')
    const holder = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
    await first.storage.close()
    writeFileSync(path, JSON.stringify({ ...holder, bootId: 'another-boot' }))
    const second = await opened(directory)
    await second.storage.close()
    writeFileSync(path, JSON.stringify({ ...holder, host: 'elsewhere' }))
    await expect(opened(directory)).rejects.toThrow(/on elsewhere/)
    writeFileSync(path, '')
    await expect(opened(directory)).rejects.toThrow(/an unreadable owner/)
  })

  it('[EMB-3] a holder on another machine of the same name is not gone because its process is not found here', () => {
    const directory = temporaryDirectory()
    const here = { host: 'h', machine: 'm', bootId: 'b', pidNamespace: 'n' }
    const path = join(directory, 'l')
    acquireDirectoryLock(directory, 'l', here)
    const gone = { ...(JSON.parse(readFileSync(path, 'utf8')) as object), pid: 4_194_303 }
    for (const elsewhere of [{ machine: 'another' }, { host: 'another' }, { pidNamespace: 'another' }]) {
      writeFileSync(path, JSON.stringify({ ...gone, ...elsewhere }))
      expect(() => acquireDirectoryLock(directory, 'l', here)).toThrow(/process 4194303 on (h|another): it belongs to/)
    }
    for (const machine of ['m', undefined]) {
      writeFileSync(path, JSON.stringify({ ...gone, machine }))
      acquireDirectoryLock(directory, 'l', here)
    }
  })

  it('[EMB-3] a writer whose lock was taken away stops at its next step and serves nothing', async () => {
    const directory = temporaryDirectory()
    const { storage, store } = await opened(directory)
    const fences = await begin(store)
    rmSync(join(directory, 'writer.lock'))
    const step = { process: storage.process, partition: 0, from: 0, to: 1, write: () => undefined }
    await expect(advance(store, fences, step)).rejects.toMatchObject({ code: 'TM_EMBEDDED_LOCK_LOST' })
    await expect(createEmbeddedDataReader({ storage }).readValues(['a'])).rejects.toMatchObject({
      code: 'TM_EMBEDDED_LOCK_LOST',
    })
    await storage.close()
  })

  it('[EMB-4] [A9] files emptied or replaced under a live writer: nothing further is confirmed, busy or idle', async () => {
    const replace: Readonly<Record<string, (path: string) => void>> = {
      removed: (path) => rmSync(path),
      emptied: (path) => truncateSync(path, 0),
      copied: (path) => {
        writeFileSync(`${path}.tmp`, readFileSync(path))
        renameSync(`${path}.tmp`, path)
      },
    }
    for (const each of Object.values(replace)) {
      const directory = temporaryDirectory()
      const { storage, store } = await opened(directory)
      const fences = await begin(store)
      each(journal(directory))
      await expect(store.read(request)).rejects.toMatchObject({ code: 'TM_EMBEDDED_STORAGE_REPLACED' })
      const step = { process: storage.process, partition: 0, from: 0, to: 1, write: () => undefined }
      await expect(advance(store, fences, step)).rejects.toMatchObject({ code: 'TM_EMBEDDED_STORAGE_REPLACED' })
      await storage.close()
    }
  })

  it.each<[string, (directory: string) => string]>([
    ['an empty journal', (directory) => empty(journal(directory))],
    ['an empty snapshot', (directory) => empty(snapshot(directory))],
    ['a cut snapshot', (directory) => empty(snapshot(directory), 40)],
    ['bytes after the snapshot', (directory) => append(snapshot(directory), 'trailing bytes after the end')],
    ['few bytes after the snapshot', (directory) => append(snapshot(directory), 'x')],
    ['cut JSON after the journal', (directory) => append(journal(directory), '{"next_offset":"12345","partition":')],
    ['a changed byte in the middle', (directory) => flip(journal(directory), 60)],
    ['a changed length in the middle', (directory) => flip(journal(directory), 32)],
    ['a missing journal', (directory) => remove(journal(directory))],
    ['a missing snapshot', (directory) => (remove(snapshot(directory)), journal(directory))],
  ])('[EMB-5] [CK-57] %s is refused with file and byte, twice the same', async (_title, damage) => {
    const directory = temporaryDirectory()
    await filled(directory)
    const file = damage(directory)
    const refusal = await opened(directory).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'TM_EMBEDDED_DAMAGED', details: { file } })
    // The lock is free again, and nothing was changed by the refusal.
    expect(await opened(directory).catch((error: unknown) => error)).toEqual(refusal)
  })

  it('[EMB-5] foreign files and other formats are named and left alone', async () => {
    const directory = temporaryDirectory()
    writeFileSync(join(directory, 'notes.txt'), 'mine')
    await expect(opened(directory)).rejects.toMatchObject({ code: 'TM_EMBEDDED_DIRECTORY_FOREIGN' })
    const inner = join(directory, 'inner')
    await filled(inner)
    writeFileSync(journal(inner), 'TMEMBED2', { flag: 'r+' })
    await expect(opened(inner)).rejects.toMatchObject({ code: 'TM_EMBEDDED_FORMAT_UNKNOWN' })
  })

  it('[EMB-6] the directory stays near the size of its data however many steps are taken', async () => {
    const directory = temporaryDirectory()
    const { storage, store } = await opened(directory, 4096)
    const fences = await begin(store)
    for (let from = 0; from < 300; from += 1) {
      const write = (writer: IdempotentWriter): void => writer.set('same', `${from}-${'x'.repeat(100)}`)
      await advance(store, fences, { process: storage.process, partition: 0, from, to: from + 1, write })
    }
    await storage.close()
    const files = readdirSync(directory)
    expect(files.filter((name) => /snapshot|journal/.test(name))).toHaveLength(2)
    const bytes = files.reduce((sum, name) => sum + statSync(join(directory, name)).size, 0)
    expect(bytes).toBeLessThan(10_000)
    const again = await opened(directory)
    expect((await again.store.read(request)).checkpoints.get(0)!['next_offset']).toBe('300')
    expect(Number(files.find((name) => name.endsWith('.journal'))!.split('.')[0])).toBeGreaterThan(5)
    await again.storage.close()
  })

  it('[EMB-6] a crash between the files of a compaction leaves a directory that opens with everything', async () => {
    const directory = temporaryDirectory()
    await filled(directory)
    const next = (name: string): string => join(directory, name)
    const empty = temporaryDirectory()
    await (await opened(empty)).storage.close()
    writeFileSync(next('000000000002.journal'), readFileSync(journal(empty)))
    writeFileSync(next('000000000002.snapshot.0a0b0c0d.tmp'), 'half')
    const { storage, store } = await opened(directory)
    expect((await store.read(request)).checkpoints.get(0)!['next_offset']).toBe('3')
    await storage.close()
    expect(readdirSync(directory).filter((name) => name.includes('0002') || name.endsWith('tmp'))).toEqual([])
  })

  it('[EMB-7] steps of several partitions and namespaces asked for at once are all confirmed and all kept', async () => {
    const directory = temporaryDirectory()
    const { storage, store } = await opened(directory, 2048)
    const other = createEmbeddedProjectionStore({ storage, namespace: 'other', dataPrefix: 'o:' })
    const stores = await Promise.all([store, other].map(async (each) => ({ each, fences: await begin(each) })))
    for (let round = 0; round < 40; round += 1) {
      const steps = stores.flatMap(({ each, fences }) =>
        [0, 1].map((partition) => {
          const write = (writer: IdempotentWriter): void => writer.sadd(`s${partition}`, `m${round}`)
          return advance(each, fences, { process: storage.process, partition, from: round, to: round + 1, write })
        }),
      )
      for (const outcome of await Promise.all(steps)) expect(outcome).toEqual({ kind: 'advanced', resent: false })
    }
    const before = structuredClone(storage.data.values)
    await storage.close()
    const again = await opened(directory)
    expect(again.storage.data.values).toEqual(before)
    await again.storage.close()
  })

  it('[EMB-8] a closed store and a closed storage refuse every call', async () => {
    const { storage, store } = await opened(temporaryDirectory())
    await store.close()
    await expect(store.read(request)).rejects.toMatchObject({ code: 'TM_EMBEDDED_CLOSED' })
    const second = createEmbeddedProjectionStore({ storage, namespace: 'ns' })
    await storage.close()
    await storage.close()
    await expect(second.claim(request)).rejects.toMatchObject({ code: 'TM_EMBEDDED_CLOSED' })
    await expect(second.read(request)).rejects.toMatchObject({ code: 'TM_EMBEDDED_CLOSED' })
  })

  it('[EMB-2] a step beyond the largest frame is refused whole, and a path that is no directory is said plainly', async () => {
    const directory = temporaryDirectory()
    const { storage } = await opened(directory)
    const writes = [{ op: 'set', key: 'k', value: 'x'.repeat(60 * 1024 * 1024) }] as const
    await expect(storage.step(() => ({ outcome: undefined, writes }))).rejects.toMatchObject({
      code: 'TM_EMBEDDED_STEP_TOO_LARGE',
    })
    expect(storage.data.values.size).toBe(0)
    await storage.close()
    const file = join(directory, 'writer.lock', 'store')
    writeFileSync(join(directory, 'writer.lock'), '')
    await expect(opened(file)).rejects.toMatchObject({ code: 'TM_EMBEDDED_IO_FAILED' })
    await expect(opened(file)).rejects.toThrow(/creating .*store failed: /)
  })

  it('[EMB-9] a durability that is none is refused before anything is created', async () => {
    const directory = join(temporaryDirectory(), 'never')
    const durability = 'memory' as 'fsync'
    await expect(createEmbeddedStorage({ directory, durability })).rejects.toMatchObject({
      code: 'TM_EMBEDDED_OPTION_INVALID',
    })
    expect(() => statSync(directory)).toThrow(/ENOENT/)
  })
})

function empty(path: string, length = 0): string {
  truncateSync(path, length)
  return path
}

function append(path: string, text: string): string {
  writeFileSync(path, text, { flag: 'a' })
  return path
}

function flip(path: string, position: number): string {
  const bytes = readFileSync(path)
  bytes[position] = bytes[position]! ^ 1
  writeFileSync(path, bytes)
  return path
}

function remove(path: string): string {
  rmSync(path)
  return path
}
