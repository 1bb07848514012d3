import { cliErrors } from '../errors.ts'

/** The parts of an address that may name several hosts. */
export interface RedisHosts {
  readonly nodes: readonly { readonly host: string; readonly port: number }[]
  readonly tls: boolean
  readonly username: string | undefined
  readonly password: string | undefined
  /** What stands behind the hosts, split at slashes and decoded. */
  readonly path: readonly string[]
}

/** More nodes than anybody has to name, since one that answers tells of the others. */
const nodesMax = 32

/**
 * The parts of `redis[s]://[user[:password]@]host[:port][,host[:port]…][/path]`.
 *
 * @param said The option or variable it came from, for messages.
 * @throws {TidemarkError} TM_CLI_USAGE, which never repeats the address, because it may hold a password.
 */
export function parseRedisHosts(text: string, said: string, defaultPort: number): RedisHosts {
  const wrong = (reason: string): Error => cliErrors.create('TM_CLI_USAGE', { reason: `${said}: ${reason}` })
  const scheme = /^(rediss?):\/\//i.exec(text)
  if (scheme === null) throw wrong('it is not a redis:// or rediss:// URL')
  if (/[?#\s]/.test(text)) throw wrong('it has a blank, query parameters or a fragment')
  const [authority = '', ...path] = text.slice(scheme[0].length).split('/')
  const parts = authority.split('@')
  if (parts.length > 2) throw wrong('it has more than one "@"; a user stands once, before the first host')
  const [userinfo, hosts] = parts.length === 2 ? (parts as [string, string]) : [undefined, authority]
  const nodes = hosts.split(',').map((host, index) => {
    const node = nodeOf(host, defaultPort)
    if (node === undefined) throw wrong(`host ${index + 1} of ${hosts.split(',').length} is not host:port`)
    return node
  })
  if (nodes.length > nodesMax) throw wrong(`it names ${nodes.length} hosts, ${nodesMax} at most`)
  const names = nodes.map(({ host, port }) => `${host.toLowerCase()}:${port}`)
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index)
  if (twice >= 0) throw wrong(`host ${twice + 1} of ${nodes.length} is named twice`)
  const decode = (part: string): string => {
    try {
      return decodeURIComponent(part)
    } catch {
      throw wrong('it is not percent-encoded correctly')
    }
  }
  const colon = userinfo?.indexOf(':') ?? -1
  const username = colon < 0 ? userinfo : userinfo!.slice(0, colon)
  const password = colon < 0 ? undefined : userinfo!.slice(colon + 1)
  return {
    nodes,
    tls: scheme[1]!.toLowerCase() === 'rediss',
    username: username === undefined || username === '' ? undefined : decode(username),
    password: password === undefined || password === '' ? undefined : decode(password),
    path: path.length === 1 && path[0] === '' ? [] : path.map(decode),
  }
}

/** Whether an address names several hosts; a comma before the last `@` is part of a password. */
export function namesSeveralHosts(text: string): boolean {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(text)?.[1]
  return authority?.slice(authority.lastIndexOf('@') + 1).includes(',') === true
}

function nodeOf(text: string, defaultPort: number): RedisHosts['nodes'][number] | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([a-z0-9._-]+))(?::([1-9][0-9]{0,4}))?$/i.exec(text)
  if (match === null) return undefined
  const port = match[3] === undefined ? defaultPort : Number(match[3])
  // A colon list in brackets is judged by the parser of URLs.
  if (port > 65_535 || !URL.canParse(`redis://${text}`)) return undefined
  return { host: (match[1] ?? match[2])!, port }
}
