// Takes steps until it is killed, and says of each when it was confirmed.
import { writeSync } from 'node:fs'
import { createEmbeddedProjectionStore, createEmbeddedStorage } from '@tidemark/embedded'
import { advance, identity } from '../store/projection-steps.ts'

const storage = await createEmbeddedStorage({ directory: process.argv[2]!, durability: 'fsync', compactAtBytes: 8192 })
const store = createEmbeddedProjectionStore({ storage, namespace: 'ns' })
const request = { topic: 'dispatch', partitionCount: 2 }
const { fences } = await store.claim(request)
let state = await store.read(request)
if (state.meta === undefined) {
  await store.bootstrap({ identity, createMeta: true, partitions: [0, 1], fences })
  state = await store.read(request)
}
await Promise.all(
  [0, 1].map(async (partition) => {
    for (let from = Number(state.checkpoints.get(partition)!['next_offset']); ; from += 1) {
      await advance(store, fences, {
        process: storage.process,
        partition,
        from,
        to: from + 1,
        write: (writer) => {
          writer.zadd(`convs:${partition}`, 'GT', from, `c${from % 50}`)
          writer.set(`last:${partition}`, String(from))
        },
      })
      writeSync(1, `${partition} ${from + 1}\n`)
    }
  }),
)
