import { cliErrors } from '../errors.ts'
import type { PlaceSources } from './place-sources.ts'

/** The address of a server, and a password that came beside it. */
export interface ServerAddress {
  /** The option or the variable that named it, for messages. */
  readonly said: string
  readonly url: string
  readonly password: string | undefined
}

/** By option: how it is written, and the environment variables that stand in for it and hold its password. */
export const serverVariables = {
  redis: { flag: '--redis', url: 'REDIS_URL', password: 'REDIS_PASSWORD' },
  redisCluster: { flag: '--redis-cluster', url: 'REDIS_CLUSTER_URL', password: 'REDIS_PASSWORD' },
  redisSentinel: { flag: '--redis-sentinel', url: 'REDIS_SENTINEL_URL', password: 'REDIS_PASSWORD' },
  redisData: { flag: '--redis-data', url: 'REDIS_DATA_URL', password: 'REDIS_DATA_PASSWORD' },
  redisCheckpoints: {
    flag: '--redis-checkpoints',
    url: 'REDIS_CHECKPOINTS_URL',
    password: 'REDIS_CHECKPOINTS_PASSWORD',
  },
  postgres: { flag: '--postgres', url: 'POSTGRES_URL', password: 'POSTGRES_PASSWORD' },
} as const

/**
 * The address an option names, or its variable where no option does.
 *
 * @throws {TidemarkError} TM_CLI_SECRET_ON_COMMAND_LINE
 */
export function readServer(
  name: keyof typeof serverVariables,
  option: string | undefined,
  { env, secrets }: PlaceSources,
): ServerAddress {
  const { flag, ...variables } = serverVariables[name]
  const url = option ?? env[variables.url]!
  const password = env[variables.password]
  secrets.add(password)
  const own = passwordOf(url)
  secrets.add(own)
  if (option !== undefined && own !== undefined) {
    throw cliErrors.create('TM_CLI_SECRET_ON_COMMAND_LINE', { option: flag, variable: variables.password })
  }
  const said = option === undefined ? variables.url : flag
  return { said, url, password: password === '' ? undefined : password }
}

/** The password of a URL, decoded where it can be. */
function passwordOf(url: string): string | undefined {
  // What cannot be parsed, as several hosts cannot, may hold one all the same.
  const text = URL.canParse(url)
    ? new URL(url).password
    : (/^[a-z][a-z0-9+.-]*:\/\/[^/?#:@]*:(.+)@/is.exec(url)?.[1] ?? '')
  if (text === '') return undefined
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
