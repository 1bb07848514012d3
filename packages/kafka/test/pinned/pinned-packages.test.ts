import Module from 'node:module'
import { isTidemarkError } from '@tidemark/core'
import { afterEach, describe, expect, it } from 'vitest'
import { createKafkaLog } from '../../src/index.ts'
import { createPinnedKafkaLog } from '../../src/pinned/index.ts'

type Resolve = (request: string, ...rest: unknown[]) => string
const loader = Module as unknown as { _resolveFilename: Resolve }
const resolveReally = loader._resolveFilename

/** Makes a package look as if it were not installed. */
function withoutPackage(name: string): void {
  loader._resolveFilename = function (request, ...rest) {
    if (request === name) throw Object.assign(new Error(`Cannot find module '${name}'`), { code: 'MODULE_NOT_FOUND' })
    return resolveReally.call(this, request, ...rest)
  }
}

afterEach(() => {
  loader._resolveFilename = resolveReally
})

const options = { brokers: ['127.0.0.1:1'], connectTimeoutMs: 500 }
const codeOf = (act: () => unknown): string => {
  try {
    act()
    return 'made'
  } catch (error) {
    return isTidemarkError(error) ? error.code : String(error)
  }
}

describe('the packages the pinned log needs', () => {
  it('[KAF-28] the official client is not one of them', async () => {
    withoutPackage('@confluentinc/kafka-javascript')
    expect(codeOf(() => createKafkaLog(options))).toBe('TM_KAFKA_CLIENT_MISSING')
    const log = createPinnedKafkaLog(options)
    const positions = [{ partition: 0, nextOffset: 0n as never }]
    await expect(log.openReader({ topic: 't', positions, deadlineMs: 1_000 })).rejects.toMatchObject({
      code: 'TM_KAFKA_UNREACHABLE',
    })
    await log.close()
    await expect(log.openReader({ topic: 't', positions, deadlineMs: 1_000 })).rejects.toMatchObject({
      code: 'TM_KAFKA_CLOSED',
    })
  })

  it('[KAF-28] a missing @platformatic/kafka is told at creation', () => {
    withoutPackage('@platformatic/kafka')
    expect(codeOf(() => createPinnedKafkaLog(options))).toBe('TM_KAFKA_CLIENT_MISSING')
  })

  it('[KAF-28] options are judged before anything connects', () => {
    const code = (fetch: object): string => codeOf(() => createPinnedKafkaLog({ ...options, fetch }))
    expect(code({})).toBe('made')
    expect(codeOf(() => createPinnedKafkaLog({ brokers: [] }))).toBe('TM_KAFKA_OPTION_INVALID')
    for (const fetch of [
      { waitMs: 0 },
      { bytesMax: 1 },
      { bufferedBytesMax: Number.NaN },
      { partitionBytesMax: 1.5 },
    ]) {
      expect(code(fetch)).toBe('TM_CORE_LIMIT_INVALID')
    }
  })
})
