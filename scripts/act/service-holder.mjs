import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { childEnvironment } from '../plan/child-environment.mjs'
import { root, sourceRunArgs } from './paths.mjs'

const startTimeoutMs = 180_000
const stopTimeoutMs = 30_000

/**
 * Starts real services through the same code as the tests, in a process that holds them until `close`.
 *
 * Shape: { services: { kafka?: { backend, address } | { error }, redis?: … }, close }. A service that cannot be had is an
 * `error`, not an exception: the caller decides whether it goes on.
 */
export async function holdServices(names) {
  const file = join(root, 'packages', 'testkit', 'src', 'service', 'serve-endpoints.ts')
  const child = spawn(process.execPath, [...sourceRunArgs, file, ...names], {
    cwd: root,
    env: childEnvironment(process.env),
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = new Promise((resolve) => child.once('close', resolve))
  let stdout = ''
  let stderr = ''
  child.stderr.on('data', (data) => (stderr = (stderr + data).slice(-4_000)))
  const services = await new Promise((resolve) => {
    const giveUp = (reason) => resolve(Object.fromEntries(names.map((name) => [name, { error: reason }])))
    const timer = setTimeout(() => giveUp('the services did not start in time'), startTimeoutMs)
    child.stdout.on('data', (data) => {
      stdout += data
      if (!stdout.includes('\n')) return
      clearTimeout(timer)
      resolve(JSON.parse(stdout.slice(0, stdout.indexOf('\n'))))
    })
    void ended.then(() => {
      clearTimeout(timer)
      giveUp(`the service starter ended: ${stderr.trim() || 'it said nothing'}`)
    })
  })
  return {
    services,
    async close() {
      child.stdin.end()
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeoutMs)
      await ended
      clearTimeout(timer)
    },
  }
}
