import { accessSync, constants, existsSync, readdirSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { javaMajorOf } from '../plan/tool-versions.mjs'
import { runCommand } from './run-command.mjs'

/** Whether a program is on PATH. */
export function onPath(name, path = process.env.PATH ?? '') {
  return path.split(delimiter).some((folder) => {
    try {
      accessSync(join(folder, name), constants.X_OK)
      return folder !== ''
    } catch {
      return false
    }
  })
}

/** Whether Postgres is there: in one of Debian's folders by version, which are on no PATH, or on PATH. */
export function postgresIsThere(folder = '/usr/lib/postgresql', path = process.env.PATH ?? '') {
  const versions = existsSync(folder) ? readdirSync(folder).filter((name) => /^\d+$/.test(name)) : []
  const folders = [...versions.map((version) => join(folder, version, 'bin')), ...path.split(delimiter)]
  return folders.some((one) => onPath('postgres', one) && existsSync(join(one, 'initdb')))
}

/** The release of a Debian system such as `12`, or `undefined` on any other. */
export function debianMajor(file = '/etc/os-release') {
  try {
    const text = readFileSync(file, 'utf8')
    if (!/^ID=debian$/m.test(text)) return undefined
    return /^VERSION_ID="?(\d+)/m.exec(text)?.[1] ?? 'unstable'
  } catch {
    return undefined
  }
}

/** The major version of the Java that JAVA_HOME or PATH names. */
export async function javaMajor() {
  const home = process.env.JAVA_HOME
  const candidates = [...(home ? [join(home, 'bin', 'java')] : []), 'java']
  const majors = await Promise.all(
    candidates.map(async (java) => {
      const { code, output } = await runCommand(java, ['-version'], { timeoutMs: 20_000 })
      return code === 0 ? javaMajorOf(output) : undefined
    }),
  )
  return majors.reduce((best, major) => (major !== undefined && major > (best ?? 0) ? major : best), undefined)
}

/** Whether everything that compiles the native client is there: tools, and the headers of its libraries. */
export async function compilerReady() {
  if (!['python3', 'make', 'g++', 'gcc'].every((tool) => onPath(tool))) return false
  const headers = ['curl/curl.h', 'sasl/sasl.h', 'openssl/ssl.h', 'zlib.h', 'zstd.h', 'lz4.h']
  const source = headers.map((header) => `#include <${header}>\n`).join('')
  const { code } = await runCommand('gcc', ['-E', '-x', 'c', '-'], {
    input: `#include <stdio.h>\n${source}`,
    timeoutMs: 30_000,
  })
  return code === 0
}

/** The folder that holds `include/node/node.h` of this very Node, or `undefined`. */
export function nodeHeadersFolder() {
  const candidates = [process.env.npm_config_nodedir, dirname(dirname(process.execPath)), '/usr', '/usr/local']
  return candidates.find((folder) => {
    if (!folder) return false
    const file = join(folder, 'include', 'node', 'node_version.h')
    if (!existsSync(file)) return false
    const text = readFileSync(file, 'utf8')
    const part = (name) => new RegExp(`#define NODE_${name}_VERSION (\\d+)`).exec(text)?.[1]
    return `v${part('MAJOR')}.${part('MINOR')}.${part('PATCH')}` === process.version
  })
}
