import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** The Kafka the tests are written against. `scripts/machine-cache.mjs` names the same version; a test compares them. */
export const kafkaVersion = '4.1.1'

/** What to do when the broker's jars or Java are missing. */
export const kafkaRemedy =
  'run `node scripts/bootstrap.mjs --services` (it needs Java 17 or newer and Maven), or set KAFKA_BROKERS, or TIDEMARK_KAFKA_HOME to an unpacked Kafka'

/** Where the broker's jars may be, first match wins: TIDEMARK_KAFKA_HOME, TIDEMARK_CACHE, the user's cache. */
export function kafkaHomeCandidates(
  env: Readonly<Record<string, string | undefined>>,
  home: string,
): readonly string[] {
  const named = env['TIDEMARK_KAFKA_HOME']
  if (named !== undefined && named !== '') return [named]
  const cache = env['TIDEMARK_CACHE']
  return [join(cache !== undefined && cache !== '' ? cache : join(home, '.cache', 'tidemark'), `kafka-${kafkaVersion}`)]
}

/** The folder with the broker's jars, or `undefined` when they are not on this machine. */
export function findKafkaLibraries(
  env: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  return kafkaHomeCandidates(env, homedir())
    .map((folder) => join(folder, 'libs'))
    .find(
      (libraries) =>
        existsSync(libraries) && readdirSync(libraries).some((file) => /^kafka_2\.\d+-.*\.jar$/.test(file)),
    )
}
