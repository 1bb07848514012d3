import { execFile } from 'node:child_process'

let answer: Promise<boolean> | undefined

/**
 * Whether a Docker engine answers `docker info` within a time-out; asked once per process.
 *
 * Cost: a client without an engine answers in milliseconds; a hanging socket costs the time-out once.
 */
export function dockerAnswers(timeoutMs: number = 5_000): Promise<boolean> {
  answer ??= new Promise<boolean>((resolve) => {
    execFile('docker', ['info', '--format', '{{.ServerVersion}}'], { timeout: timeoutMs }, (error, stdout) => {
      resolve(error === null && stdout.trim() !== '')
    })
  })
  return answer
}
