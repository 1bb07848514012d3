import { UsageError } from './usage-error.mjs'

/** What compiling the native Kafka client takes on Debian. */
const compilePackages = [
  'python3',
  'make',
  'g++',
  'libcurl4-openssl-dev',
  'libsasl2-dev',
  'libssl-dev',
  'zlib1g-dev',
  'libzstd-dev',
  'liblz4-dev',
]

/** Debian releases whose default Java is older than 17 but that carry 17 by name. */
const namedJavaReleases = ['11', '12']

/**
 * Which Debian packages are missing, each with the reason.
 *
 * Shape: facts = { nativeClientLoads, compilerReady, redisServer, postgresServer, javaMajor, kafkaJars, maven, debianMajor };
 * wanted = { nativeClient, redis, postgres, kafka }.
 */
export function missingPackages(facts, wanted) {
  const missing = []
  const add = (packages, reason) => packages.forEach((name) => missing.push({ name, reason }))
  if (wanted.nativeClient && !facts.nativeClientLoads && !facts.compilerReady) {
    add(compilePackages, 'compile the native Kafka client')
  }
  if (wanted.redis && !facts.redisServer) add(['redis-server'], 'run a real Redis')
  if (wanted.postgres && !facts.postgresServer) add(['postgresql'], 'run a real Postgres')
  if (wanted.kafka) {
    if ((facts.javaMajor ?? 0) < 17) {
      const named = namedJavaReleases.includes(facts.debianMajor)
      add([named ? 'openjdk-17-jre-headless' : 'default-jre-headless'], 'run a real Kafka')
    }
    if (!facts.kafkaJars && !facts.maven) add(['maven'], "fetch Kafka's jars")
  }
  return missing
}

/** The one line a person can paste. */
export function installLine(packages) {
  return `apt-get update && apt-get install -y --no-install-recommends ${packages.join(' ')}`
}

/**
 * What to do about missing packages: `nothing`, `install`, `tell` (print the line and stop) or `go-without`.
 *
 * Order: never asks for more rights than it has; `sudo` is never used. `mode` is TIDEMARK_SYSTEM_PACKAGES.
 * Throws: UsageError on an unknown mode.
 */
export function packageDecision({ missing, mode = 'auto', isRoot, hasApt }) {
  if (!['auto', 'print', 'never'].includes(mode)) {
    throw new UsageError(`TIDEMARK_SYSTEM_PACKAGES is ${JSON.stringify(mode)}; it must be auto, print or never`)
  }
  if (missing.length === 0) return { kind: 'nothing' }
  if (mode === 'never') return { kind: 'go-without' }
  if (mode === 'auto' && isRoot && hasApt) return { kind: 'install' }
  return { kind: 'tell' }
}
