import { describe, expect, it } from 'vitest'
import { brokersOfAnswer, identityOfAnswer } from '../src/inspection/topic-metadata.ts'
import type { MetadataAnswer, PartitionMetadata, TopicMetadata } from '../src/inspection/topic-metadata.ts'
import { settingsOfAnswer } from '../src/inspection/topic-settings.ts'

const id = 'edbce881-ef7f-96bd-9da2-2d48fd68e2f5'
const partition = (partitionIndex: number, more: Partial<PartitionMetadata> = {}): PartitionMetadata => ({
  errorCode: 0,
  partitionIndex,
  leaderId: 1,
  leaderEpoch: 0,
  ...more,
})
const answer = (topic: Partial<TopicMetadata> = {}, more: Partial<MetadataAnswer> = {}): MetadataAnswer => ({
  clusterId: 'cluster',
  brokers: [{ nodeId: 1, host: 'b1', port: 9092 }],
  topics: [{ errorCode: 0, name: 't', topicId: id, partitions: [partition(1), partition(0)], ...topic }],
  ...more,
})

describe('identity of one answer', () => {
  it('[KAF-9] takes cluster id, topic id and count from it together', () => {
    expect(identityOfAnswer('t', answer())).toEqual({
      kind: 'described',
      clusterId: 'cluster',
      topicId: id,
      partitionCount: 2,
    })
    expect(identityOfAnswer('t', answer({ topicId: '7bzoge9/lr2doi1I/Wji9Q' }))).toMatchObject({ topicId: id })
  })

  it.each([
    ['unknown-topic', answer({ errorCode: 3, topicId: '00000000-0000-0000-0000-000000000000', partitions: [] })],
    ['unknown-topic', answer({ errorCode: 17 })],
    ['authorization', answer({ errorCode: 29, topicId: '00000000-0000-0000-0000-000000000000' })],
    ['no-leader', answer({ errorCode: 5 })],
    ['malformed', answer({ errorCode: 87 })],
    ['zero-topic-id', answer({ topicId: '00000000-0000-0000-0000-000000000000' })],
    ['zero-topic-id', answer({ topicId: null })],
    ['malformed', answer({ topicId: 'not an id' })],
    ['missing-cluster-id', answer({}, { clusterId: null })],
    ['missing-cluster-id', answer({}, { clusterId: undefined })],
    ['missing-cluster-id', answer({}, { clusterId: '' })],
    ['no-leader', answer({ partitions: [partition(0), partition(1, { leaderId: -1, errorCode: 5 })] })],
    ['no-leader', answer({ partitions: [partition(0, { errorCode: 72 })] })],
    ['malformed', answer({ partitions: [] })],
    ['malformed', answer({ partitions: [partition(0), partition(2)] })],
    ['malformed', answer({ partitions: [partition(0), partition(0)] })],
    ['malformed', answer({ name: 'other' })],
    ['malformed', answer({}, { topics: [] })],
  ])('[KAF-9] is no answer: %s', (reason, given) => {
    expect(identityOfAnswer('t', given)).toMatchObject({ kind: 'no-answer', reason })
  })

  it('[KAF-9] says the sentence to a broker without topic ids, and ignores a replica that is away', () => {
    const zero = identityOfAnswer('t', answer({ topicId: '00000000-0000-0000-0000-000000000000' }))
    expect(zero).toMatchObject({ message: expect.stringContaining('a broker without topic ids is refused') })
    const away = answer({ partitions: [partition(0, { errorCode: 9 })] })
    expect(identityOfAnswer('t', away)).toMatchObject({ kind: 'described', partitionCount: 1 })
  })

  it('[KAF-9] lists members with an address only', () => {
    const brokers = [
      { nodeId: 1, host: 'b1', port: 9092 },
      { nodeId: -1, host: 'b2', port: 9092 },
      { nodeId: 3, host: '', port: 9092 },
      { nodeId: 4, host: null, port: 9092 },
      { nodeId: 5, host: 'b5', port: 0 },
    ]
    expect([...brokersOfAnswer(answer({}, { brokers })).keys()]).toEqual([1])
  })
})

describe('settings of one answer', () => {
  const settings = (retention: string | null, policy: string | null, errorCode = 0) => ({
    results: [
      {
        errorCode,
        errorMessage: null,
        resourceName: 't',
        configs: [
          { name: 'retention.ms', value: retention },
          { name: 'cleanup.policy', value: policy },
        ],
      },
    ],
  })

  it('[KAF-12] tell retention and compaction', () => {
    const read = (policy: string) => settingsOfAnswer('t', settings('604800000', policy))
    expect(read('delete')).toMatchObject({ settings: { retentionMs: 604_800_000n, compacted: false } })
    expect(read('compact')).toMatchObject({ settings: { compacted: true, cleanupPolicy: 'compact' } })
    expect(read('compact,delete')).toMatchObject({ settings: { compacted: true, cleanupPolicy: 'compact,delete' } })
    expect(settingsOfAnswer('t', settings('-1', 'delete'))).toMatchObject({ settings: { retentionMs: -1n } })
  })

  it.each([
    [settings(null, 'delete')],
    [settings('soon', 'delete')],
    [settings('1e3', 'delete')],
    [settings('1', null)],
    [settings('1', '')],
    [settings('1', 'archive')],
    [settings('1', 'delete', 29)],
    [{ results: [] }],
  ])('[KAF-12] are unreadable, never a default: %j', (given) => {
    expect(settingsOfAnswer('t', given)).toMatchObject({ kind: 'unreadable' })
  })
})
