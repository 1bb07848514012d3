import { describe, expect, it } from 'vitest'
import { javaMajorOf as javaOfTests } from '../../../testkit/src/service/kafka/java-binary.ts'
import { kafkaHomeCandidates, kafkaVersion as versionOfTests } from '../../../testkit/src/service/kafka/kafka-jars.ts'
import { loadScript } from './load-script.ts'

const jars = await loadScript<{ kafkaVersion: string; kafkaHome(): string }>('act/kafka-jars')
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

  it('read the version of Java alike', () => {
    for (const text of ['openjdk version "17.0.15"', 'java version "1.8.0_1"', 'x']) {
      expect(javaMajorOf(text)).toBe(javaOfTests(text))
    }
  })
})
