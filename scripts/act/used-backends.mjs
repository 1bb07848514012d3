import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'

const wording = {
  address: 'real, at the address in the environment',
  docker: 'real, in Docker',
  local: 'real, started locally',
}

/** One line that says which services were real in this run. */
export function readBackends(file, offline) {
  if (offline) return 'backends: none (offline)'
  const lines = existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
    : []
  const used = new Map(lines.map((line) => JSON.parse(line)).map(({ service, backend }) => [service, wording[backend]]))
  if (used.size === 0) return 'backends: no service was used'
  return `backends: ${[...used].map(([service, how]) => `${service} ${how}`).join('; ')}`
}

/** Notes services that a stage used, in the same file as the test runs. */
export function recordBackends(file, used) {
  mkdirSync(dirname(file), { recursive: true })
  appendFileSync(file, used.map((one) => `${JSON.stringify(one)}\n`).join(''))
}
