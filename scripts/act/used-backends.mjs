import { existsSync, readFileSync } from 'node:fs'

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
