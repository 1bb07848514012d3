import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { machineCache } from './paths.mjs'
import { runCommand, tailOf } from './run-command.mjs'
import { StepError } from './step-log.mjs'

/** The broker the tests run; `packages/testkit/src/service/kafka/kafka-jars.ts` names the same, and a test compares them. */
export const kafkaVersion = '4.1.1'

const mavenPlugin = 'org.apache.maven.plugins:maven-dependency-plugin:3.8.1'

/** What Maven resolves: the broker, and a logger without which a failing broker would say nothing. */
const dependencies = [
  ['org.apache.kafka', 'kafka_2.13', kafkaVersion],
  ['org.slf4j', 'slf4j-simple', '1.7.36'],
]

/** The folder with `libs/*.jar`: TIDEMARK_KAFKA_HOME, else the machine's cache. */
export function kafkaHome() {
  return process.env.TIDEMARK_KAFKA_HOME || join(machineCache, `kafka-${kafkaVersion}`)
}

/** Whether the broker's jars are there, whole: the folder appears by one rename. */
export function kafkaJarsAreThere(home = kafkaHome()) {
  const libraries = join(home, 'libs')
  return existsSync(libraries) && readdirSync(libraries).some((file) => /^kafka_2\.\d+-.*\.jar$/.test(file))
}

/** Fetches the jars (45 files, 43 MB) with Maven. */
export async function fetchKafkaJars() {
  const home = kafkaHome()
  if (kafkaJarsAreThere(home)) return 'already there'
  if (process.env.TIDEMARK_KAFKA_HOME) {
    throw new StepError(
      `TIDEMARK_KAFKA_HOME (${home}) has no libs/kafka_2.*.jar`,
      'name the folder of an unpacked Kafka, or unset it',
    )
  }
  const partial = `${home}.${process.pid}`
  mkdirSync(partial, { recursive: true })
  try {
    writeFileSync(join(partial, 'pom.xml'), projectFile())
    const args = ['-q', '-B', '-f', join(partial, 'pom.xml'), `${mavenPlugin}:copy-dependencies`]
    const target = [`-DoutputDirectory=${join(partial, 'libs')}`, '-DincludeScope=runtime']
    const { code, output, missing } = await runCommand('mvn', [...args, ...target], { timeoutMs: 600_000 })
    if (missing)
      throw new StepError(
        'Maven (mvn) is not installed',
        'install maven, or set TIDEMARK_KAFKA_HOME to an unpacked Kafka',
      )
    if (code !== 0 || !kafkaJarsAreThere(partial)) {
      throw new StepError(
        `Maven could not fetch Kafka ${kafkaVersion}:\n${tailOf(output, 12)}`,
        'check that Maven Central is reachable, then run again',
      )
    }
    if (!kafkaJarsAreThere(home)) {
      rmSync(home, { recursive: true, force: true })
      renameSync(partial, home)
    }
  } finally {
    rmSync(partial, { recursive: true, force: true })
  }
}

function projectFile() {
  const list = dependencies.map(
    ([group, artifact, version]) =>
      `<dependency><groupId>${group}</groupId><artifactId>${artifact}</artifactId><version>${version}</version></dependency>`,
  )
  return `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>tidemark.local</groupId><artifactId>kafka-jars</artifactId><version>1</version><packaging>pom</packaging>
<dependencies>${list.join('')}</dependencies></project>
`
}
