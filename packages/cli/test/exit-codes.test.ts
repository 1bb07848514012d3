import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { verdicts } from '@tidemark/cli'
import { describe, expect, it } from 'vitest'
import { errorVerdict } from '../src/reports/error-report.ts'
import { refusalVerdict } from '../src/reports/reason-line.ts'
import { cliErrors } from '@tidemark/cli'
import { checkpointErrors } from '@tidemark/checkpoint'
import type { Refusal } from '@tidemark/checkpoint'
import { coreErrors } from '@tidemark/core'
import { embeddedErrors } from '@tidemark/embedded'
import { kafkaErrors } from '@tidemark/kafka'
import { redisErrors } from '@tidemark/redis/checkpoint'

const guide = readFileSync(join(import.meta.dirname, '../../../docs/guide/command.md'), 'utf8')

describe('the table of verdicts', () => {
  it('[CLI-6] is the one of the guide, both ways', () => {
    const rows = [...guide.matchAll(/^\| `([a-z-]+)` +\| (\d+) +\| (.+?) +\|$/gm)]
    const told = rows.map(([, verdict, code, meaning]) => [verdict, { exitCode: Number(code), meaning }])
    expect(Object.fromEntries(told)).toEqual(verdicts)
  })

  it('[CLI-6] gives every verdict but the good ones an exit code of its own, below those of a shell', () => {
    const codes = Object.values(verdicts).map(({ exitCode }) => exitCode)
    const bad = codes.filter((code) => code !== 0)
    expect(new Set(bad).size).toBe(bad.length)
    expect(bad.every((code) => code < 126 || code === 130)).toBe(true)
  })
})

/** One error of each kind, and what a script should see. */
const errors: readonly (readonly [unknown, string])[] = [
  [new Error('boom'), 'failed'],
  [cliErrors.create('TM_CLI_USAGE', { reason: 'x' }), 'usage'],
  [cliErrors.create('TM_CLI_CLIENT_MISSING', { place: '--redis', reason: 'x' }), 'usage'],
  [
    cliErrors.create('TM_CLI_PLACE_OF_OTHER_KIND', { said: '--x', due: 'd', address: 'a', found: 'f', instead: '--y' }),
    'usage',
  ],
  [cliErrors.create('TM_CLI_PROJECT_FAILED', { file: 'x', reason: 'x' }), 'failed'],
  [coreErrors.create('TM_CORE_CANCELLED', { what: 'x' }), 'interrupted'],
  [coreErrors.create('TM_CORE_DEADLINE_EXCEEDED', { what: 'x', deadlineMs: 1 }), 'unavailable'],
  [checkpointErrors.create('TM_CHECKPOINT_NAMESPACE_INVALID', { namespace: '' }), 'usage'],
  [checkpointErrors.create('TM_CHECKPOINT_VERIFY_FAILED', { topic: 't', reason: 'x' }), 'unverifiable'],
  [checkpointErrors.create('TM_CHECKPOINT_WRITE_INVALID', { op: 'x', key: 'k', reason: 'x' }), 'failed'],
  [kafkaErrors.create('TM_KAFKA_OPTION_INVALID', { option: 'brokers', reason: 'x' }), 'usage'],
  [kafkaErrors.create('TM_KAFKA_AUTHENTICATION_FAILED', { brokers: 'x', reason: 'x' }), 'unavailable'],
  [redisErrors.create('TM_REDIS_AUTH_FAILED', { address: 'x', reply: 'x' }), 'unavailable'],
  [redisErrors.create('TM_REDIS_ADDRESS_INVALID', { reason: 'x' }), 'usage'],
  [redisErrors.create('TM_REDIS_WRONG_TYPE', { operation: 'x', key: 'x', found: 'x' }), 'damaged'],
  [embeddedErrors.create('TM_EMBEDDED_DAMAGED', { file: 'x', position: 0, reason: 'x' }), 'damaged'],
  [embeddedErrors.create('TM_EMBEDDED_LOCKED', { file: 'x', holder: 'x', reason: 'x' }), 'unavailable'],
]

describe('errors', () => {
  it.each(errors)('[CLI-6] %s is %s', (error, verdict) => {
    expect(errorVerdict(error)).toBe(verdict)
  })

  it('[CLI-6] a start that could not ask is what its cause is', () => {
    const failed = (cause: unknown) =>
      checkpointErrors.create('TM_CHECKPOINT_START_FAILED', { topic: 't', step: 's', reason: 'r' }, { cause })
    for (const [cause, verdict] of errors.slice(1)) expect(errorVerdict(failed(cause))).toBe(verdict)
    expect(errorVerdict(failed(new Error('refused')))).toBe('unavailable')
  })
})

describe('refusals', () => {
  const refusal = (code: Refusal['code'], values: Refusal['values'] = {}): Refusal => {
    return { code, message: '', values, remedy: '', docsPath: '' }
  }
  it('[CLI-6] are told from answers that did not come', () => {
    const silent = [refusal('IDENTITY_UNPROVEN', { reason: 'unreachable' }), refusal('BOUNDS_UNREADABLE')]
    expect(refusalVerdict(silent)).toBe('unavailable')
    expect(refusalVerdict([...silent, refusal('TOPIC_ID')])).toBe('refused')
    const damaged = [...silent, refusal('WITNESS_UNPROVEN', { reason: 'damaged' })]
    expect(refusalVerdict(damaged)).toBe('damaged')
    expect(refusalVerdict([...damaged, refusal('TOPIC_ID')])).toBe('refused')
    for (const reason of ['unknown-topic', 'zero-topic-id', 'missing-cluster-id', 'unsupported']) {
      expect(refusalVerdict([refusal('IDENTITY_UNPROVEN', { reason })])).toBe('refused')
    }
  })
})
