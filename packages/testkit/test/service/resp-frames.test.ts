import { describe, expect, it } from 'vitest'
import { commandNameOf, createRespFrameReader } from '../../src/service/proxy/resp-frames.ts'

const values = [
  '+OK\r\n',
  '-ERR no\r\n',
  ':12\r\n',
  '$-1\r\n',
  '$0\r\n\r\n',
  '$6\r\nab\r\ncd\r\n',
  '*-1\r\n',
  '*0\r\n',
  '*2\r\n*1\r\n$1\r\na\r\n:1\r\n',
  '%1\r\n+k\r\n*1\r\n:1\r\n',
  '~2\r\n:1\r\n:2\r\n',
  '>2\r\n+message\r\n+hi\r\n',
  '|1\r\n+ttl\r\n:3\r\n$1\r\nv\r\n',
  '_\r\n',
  '#t\r\n',
  '=7\r\ntxt:a\r\n\r\n',
]

describe('createRespFrameReader', () => {
  it('cuts a stream into whole values, wherever the chunks end', () => {
    const stream = Buffer.from(values.join(''))
    for (let size = 1; size <= stream.length; size += 1) {
      const reader = createRespFrameReader()
      const frames: string[] = []
      for (let at = 0; at < stream.length; at += size) {
        frames.push(...reader.push(stream.subarray(at, at + size)).map((frame) => frame.bytes.toString()))
      }
      expect(frames, `chunks of ${size}`).toEqual(values)
      expect(reader.pending()).toBe(0)
    }
  })

  it('names commands, arrays and inline lines alike', () => {
    const frames = createRespFrameReader().push(Buffer.from('*2\r\n$3\r\nget\r\n$1\r\nk\r\nPING\r\n set k v\r\n'))
    expect(frames.map(commandNameOf)).toEqual(['GET', 'PING', 'SET'])
    expect(frames.map((frame) => frame.kind)).toEqual(['*', 'inline', 'inline'])
  })
})
