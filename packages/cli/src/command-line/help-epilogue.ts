import { verdicts } from '../verdicts.ts'
import { kafkaSecurityVariables } from '../places/kafka-security.ts'
import { serverVariables } from '../places/server-address.ts'

/** What stands below the list of commands: where secrets come from, and how a command may end. */
export function helpEpilogue(): string {
  const { redis, redisCluster, redisSentinel, redisData, redisCheckpoints, postgres } = serverVariables
  const secrets: Readonly<Record<string, string>> = {
    [redis.url]: 'the address of the Redis, with its password',
    [redisCluster.url]: 'or of the Redis Cluster',
    [redisSentinel.url]: 'or of the sentinels; the password is that of the servers',
    [redis.password]: 'or the password alone',
    REDIS_SENTINEL_USERNAME: 'who logs in to the sentinels themselves',
    REDIS_SENTINEL_PASSWORD: 'its password',
    [redisData.url]: 'the address of the data of a split store, with its password',
    [redisData.password]: 'or the password alone',
    [redisCheckpoints.url]: 'the address of its checkpoints, with its password',
    [redisCheckpoints.password]: 'or the password alone',
    [postgres.url]: 'the address of the Postgres, with its password',
    [postgres.password]: 'or the password alone',
    KAFKA_SECURITY_FILE: 'JSON with tls and sasl, instead of what follows',
    ...kafkaSecurityVariables,
  }
  const ends = new Map<number, string[]>()
  for (const [verdict, { exitCode }] of Object.entries(verdicts)) {
    ends.set(exitCode, [...(ends.get(exitCode) ?? []), verdict])
  }
  return [
    '',
    'Secrets come from the environment only:',
    ...Object.entries(secrets).map(([variable, what]) => `  ${variable.padEnd(26)}  ${what}`),
    '',
    'Exit codes:',
    ...[...ends].map(([exitCode, names]) => `  ${String(exitCode).padStart(3)}  ${names.join(', ')}`),
  ].join('\n')
}
