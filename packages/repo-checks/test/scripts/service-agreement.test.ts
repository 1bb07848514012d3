import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { javaMajorOf as javaOfTests } from '../../../testkit/src/service/kafka/java-binary.ts'
import { kafkaHomeCandidates, kafkaVersion as versionOfTests } from '../../../testkit/src/service/kafka/kafka-jars.ts'
import { findPostgres } from '../../../testkit/src/service/postgres/postgres-binaries.ts'
import { loadScript } from './load-script.ts'

const jars = await loadScript<{ kafkaVersion: string; kafkaHome(): string }>('act/kafka-jars')
const { postgresIsThere } = await loadScript<{ postgresIsThere(folder: string, path: string): boolean }>(
  'act/machine-facts',
)
const { machineCache } = await loadScript<{ machineCache: string }>('act/paths')
const { javaMajorOf } = await loadScript<{ javaMajorOf(text: string): number | undefined }>('plan/tool-versions')

describe('the scripts and the test services', () => {
  it('mean the same Kafka in the same place', () => {
    expect(jars.kafkaVersion).toBe(versionOfTests)
    expect(kafkaHomeCandidates({ TIDEMARK_CACHE: machineCache }, '/nowhere')).toEqual([
      `${machineCache}/kafka-${versionOfTests}`,
    ])
    expect(kafkaHomeCandidates({ TIDEMARK_KAFKA_HOME: '/opt/kafka' }, '/nowhere')).toEqual(['/opt/kafka'])
    expect(kafkaHomeCandidates({}, '/home/me')).toEqual([`/home/me/.cache/tidemark/kafka-${versionOfTests}`])
  })

  it('find Postgres in the same places', () => {
    const versions = mkdtempSync(join(tmpdir(), 'tidemark-versions-'))
    try {
      expect(postgresIsThere(versions, '/nowhere')).toBe(false)
      for (const version of ['9', '15', '100']) {
        const bin = join(versions, version, 'bin')
        mkdirSync(bin, { recursive: true })
        for (const name of ['postgres', 'initdb']) writeFileSync(join(bin, name), '', { mode: 0o755 })
      }
      expect(postgresIsThere(versions, '/nowhere')).toBe(true)
      expect(findPostgres('/nowhere', versions)?.server).toBe(join(versions, '100', 'bin', 'postgres'))
    } finally {
      rmSync(versions, { recursive: true })
    }
  })

  it('read the version of Java alike', () => {
    for (const text of ['openjdk version "17.0.15"', 'java version "1.8.0_1"', 'x']) {
      expect(javaMajorOf(text)).toBe(javaOfTests(text))
    }
  })
})
