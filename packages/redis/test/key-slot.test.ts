import { describe, expect, it } from 'vitest'
import { partitionTag } from '@tidemark/redis/checkpoint'
import { readSlotRanges } from '../src/connection/cluster-topology.ts'
import { keySlot } from '../src/connection/key-slot.ts'

describe('slots', () => {
  it('[RED-23] are those of the specification, hash tags included', () => {
    // Known values: the check value of CRC-16/XMODEM, and what CLUSTER KEYSLOT answers.
    expect(keySlot('123456789')).toBe(0x31c3)
    expect(keySlot('foo')).toBe(12_182)
    expect(keySlot('')).toBe(0)
    expect(keySlot('{user1000}.following')).toBe(keySlot('user1000'))
    expect(keySlot('foo{}{bar}')).not.toBe(keySlot('bar'))
    expect(keySlot('foo{{bar}}zap')).toBe(keySlot('{bar'))
    expect(keySlot('foo{bar}{zap}')).toBe(keySlot('bar'))
  })

  it('[RED-23] a side key lies in the slot of its checkpoint, whose own key stays as it is', () => {
    const checkpoint = 'session_projection:checkpoint:dispatch:7'
    expect(partitionTag('session_projection', 'dispatch', 7)).toBe(`{${checkpoint}}`)
    expect(keySlot(`${partitionTag('session_projection', 'dispatch', 7)}:fence`)).toBe(keySlot(checkpoint))
  })

  it('[RED-24] [RED-6] a topology with a hole, an overlap or another shape is no topology', () => {
    const asked = { host: '10.0.0.1', port: 7_000 }
    const node = (port: number): unknown => ['10.0.0.2', port, 'id']
    const whole = [
      [8_192, 16_383, node(2)],
      [0, 8_191, ['', 1, 'id'], node(3)],
    ]
    expect(readSlotRanges(whole, asked).map(({ from, primary }) => [from, primary.host])).toEqual([
      [0, '10.0.0.1'],
      [8_192, '10.0.0.2'],
    ])
    for (const reply of [
      [],
      [[1, 16_383, node(1)]],
      [
        [0, 9, node(1)],
        [9, 16_383, node(2)],
      ],
      [[0, 16_382, node(1)]],
    ]) {
      expect(() => readSlotRanges(reply, asked)).toThrow(
        expect.objectContaining({ code: 'TM_REDIS_CLUSTER_DISAGREES' }),
      )
    }
    for (const reply of [
      'OK',
      null,
      [[0, 16_383]],
      [[0, 16_384, node(1)]],
      [['0', 16_383, node(1)]],
      [[0, 16_383, ['h']]],
    ]) {
      expect(() => readSlotRanges(reply, asked)).toThrow(expect.objectContaining({ code: 'TM_REDIS_REPLY_MALFORMED' }))
    }
  })
})
