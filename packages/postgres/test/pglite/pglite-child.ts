// Run as a process of its own: `pglite-child.ts <directory> <mode>`. Modes: `write` makes steps until it is killed and prints
// each position it was told; `open` opens, prints and waits; `try` prints how opening ended.
import { isTidemarkError } from '@tidemark/core'
import { ensurePostgresTables } from '@tidemark/postgres/checkpoint'
import type { TransactionalWriter } from '@tidemark/postgres/checkpoint'
import { openPglite } from '@tidemark/postgres/pglite'
import { adminOf, advance, claim, openStore, readRequest, start } from '../postgres-fixture.ts'

const [directory, mode] = process.argv.slice(2) as [string, string]
const say = (line: string): void => void process.stdout.write(`${line}\n`)

try {
  say('opening')
  const database = await openPglite({ directory })
  say('open')
  if (mode === 'write') {
    await ensurePostgresTables({ database, schema: 'killed' })
    const admin = adminOf(database)
    await admin('CREATE TABLE IF NOT EXISTS killed.sums (amount bigint NOT NULL)')
    const store = openStore(database, 'killed')
    const { meta, checkpoints } = await store.read(readRequest)
    const claimed = meta === undefined ? await start(store) : await claim(store)
    if (meta === undefined) await admin('INSERT INTO killed.sums VALUES (0)')
    const write = (w: TransactionalWriter): void => {
      w.zadd('z', 'GT', 1, 'm')
      w.sql('UPDATE killed.sums SET amount = amount + $1', [1])
    }
    for (let next = Number(checkpoints.get(0)?.['next_offset'] ?? 0); ; next += 1) {
      await advance(claimed, { from: next, to: next + 1, write })
      say(`at ${next + 1}`)
    }
  }
  if (mode === 'try') await database.close()
} catch (error) {
  say(isTidemarkError(error) ? `${error.code} ${error.message}` : String(error))
}
if (mode === 'open') setInterval(() => undefined, 1_000)
