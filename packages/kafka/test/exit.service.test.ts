import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sharedKafkaBrokers } from '@tidemark/testkit/service'
import type { KafkaFixture } from './kafka-fixture.ts'
import { openFixture } from './kafka-fixture.ts'

let kafka: KafkaFixture

beforeAll(async () => {
  kafka = await openFixture(await sharedKafkaBrokers())
})

afterAll(async () => {
  await kafka?.close()
})

const root = join(import.meta.dirname, '../../..')

async function run(
  way: string,
  brokers: readonly string[],
  topic: string,
): Promise<{ code: number | null; output: string }> {
  const script = join(import.meta.dirname, 'exit-probe.ts')
  const args = ['--import', 'tsx', '--conditions=@tidemark/source', script, way, brokers.join(','), topic]
  const child = spawn(process.execPath, args, { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  // A process that does not end by itself is the fault looked for; it is ended here so that nothing stays behind.
  const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
  const code = await new Promise<number | null>((resolve) => child.on('exit', resolve))
  clearTimeout(timer)
  return { code, output }
}

describe('a process that closed its log', () => {
  it.each([
    ['read', 'opened'],
    ['cancel', 'failed TM_CORE_CANCELLED'],
    ['lost', 'failed TM_KAFKA_UNREACHABLE'],
    ['login', 'failed TM_KAFKA_'],
  ])('[KAF-13] ends by itself after: %s', async (way, told) => {
    const topic = await kafka.createTopic()
    const brokers = way === 'read' || way === 'login' ? kafka.brokers : ['127.0.0.1:1']
    const { code, output } = await run(way, brokers, topic)
    expect({ code, output }).toMatchObject({ code: 0, output: expect.stringContaining(told) })
    expect(output).toMatch(/exit \d+/)
    expect(output).not.toContain('unhandled')
  })
})
