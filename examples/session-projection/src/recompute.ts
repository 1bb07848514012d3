// Recomputes every session from the log, independently of the projection, and compares it with what is stored.
import { messageOf } from '@tidemark/core'
import { openSessionBackend } from './backend/open-session-backend.ts'
import { compareSessions } from './proof/compare-sessions.ts'
import { createLoggedSessions } from './proof/logged-sessions.ts'
import { readCommitted } from './proof/read-committed.ts'
import { exitCodes, isWrongSetting } from './service/exit-codes.ts'
import type { ExitCode } from './service/exit-codes.ts'
import { settingsOrExit } from './settings/settings-or-exit.ts'
import { readVerifySettings } from './settings/verify-settings.ts'
import type { VerifySettings } from './settings/verify-settings.ts'

const settings = settingsOrExit(readVerifySettings(process.argv.slice(2), process.env))
process.exit(await main(settings))

async function main(settings: VerifySettings): Promise<ExitCode> {
  try {
    return await compare(settings)
  } catch (error) {
    process.stderr.write(`cannot be compared: ${messageOf(error)}\n`)
    return isWrongSetting(error) ? exitCodes.wrongSettings : exitCodes.unavailable
  }
}

async function compare(settings: VerifySettings): Promise<ExitCode> {
  const { topic, deadlineMs } = settings
  const ioDeadlineMs = Math.min(deadlineMs, 5_000)
  const backend = await openSessionBackend({ ...settings, ioDeadlineMs, createTables: false })
  try {
    const logged = createLoggedSessions()
    const { records } = await readCommitted({ log: backend.log, topic, deadlineMs, visit: logged.take })
    const { users, sessions, lost, unexplained } = await compareSessions(logged.sessions, backend.data)
    process.stdout.write(
      `${records} records, ${users} users, ${sessions} sessions stored, ` +
        `${logged.undecodable} undecodable, ${lost.length} lost, ${unexplained.length} unexplained\n`,
    )
    for (const difference of [...lost, ...unexplained].slice(0, 20)) {
      const { user, conversationId, expected = 'nothing', found = 'nothing' } = difference
      process.stderr.write(`${user} ${conversationId}: the log says ${expected}, stored is ${found}\n`)
    }
    return lost.length + unexplained.length === 0 ? exitCodes.ok : exitCodes.failed
  } finally {
    await Promise.all([backend.log.close(), backend.store.close(), backend.close()])
  }
}
