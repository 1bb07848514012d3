// Writes dispatch records in transactions, some of which are aborted: nobody may ever see those.
import { setTimeout as sleep } from 'node:timers/promises'
import { messageOf } from '@tidemark/core'
import { openDispatchWriter } from './backend/open-dispatch-writer.ts'
import { createDispatchSource } from './proof/dispatch-source.ts'
import { exitCodes, isWrongSetting } from './service/exit-codes.ts'
import type { ExitCode } from './service/exit-codes.ts'
import { readProducerSettings } from './settings/producer-settings.ts'
import type { ProducerSettings } from './settings/producer-settings.ts'
import { settingsOrExit } from './settings/settings-or-exit.ts'

const settings = settingsOrExit(readProducerSettings(process.argv.slice(2), process.env))
process.exit(await main(settings))

async function main(settings: ProducerSettings): Promise<ExitCode> {
  const { log: place, topic, deadlineMs } = settings
  try {
    const writer = await openDispatchWriter({ place, topic, deadlineMs })
    try {
      await produce(settings, writer)
    } finally {
      await writer.close()
    }
    return exitCodes.ok
  } catch (error) {
    process.stderr.write(`producing failed: ${messageOf(error)}\n`)
    return isWrongSetting(error) ? exitCodes.wrongSettings : exitCodes.unavailable
  }
}

async function produce(settings: ProducerSettings, writer: Awaited<ReturnType<typeof openDispatchWriter>>) {
  const { dispatches, perTransaction, abortEvery, perSecond, users } = settings
  const source = createDispatchSource({ users, startMs: Date.now(), random: Math.random })
  const startedAt = performance.now()
  let [committed, aborted] = [0, 0]
  for (let transaction = 1; committed < dispatches; transaction += 1) {
    const count = Math.min(perTransaction, dispatches - committed)
    await writer.write(source.next(count), 'commit')
    committed += count
    if (abortEvery > 0 && transaction % abortEvery === 0) {
      await writer.write(source.nextAborted(count), 'abort')
      aborted += count
    }
    const aheadMs = perSecond === 0 ? 0 : (committed * 1_000) / perSecond - (performance.now() - startedAt)
    if (aheadMs > 0) await sleep(aheadMs)
  }
  process.stdout.write(`${committed} dispatches committed, ${aborted} aborted\n`)
}
