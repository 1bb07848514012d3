import { describe, expect, it } from 'vitest'
import { serverUser } from '../../src/service/postgres/postgres-binaries.ts'
import { encodeStartup, readStartupAnswer } from '../../src/service/postgres/postgres-readiness.ts'
import { postgresSettings } from '../../src/service/postgres/postgres-server.ts'

describe('a Postgres of one’s own', () => {
  it('listens on the loopback address only, on no file socket, and lets the caller win', () => {
    const settings = postgresSettings(7, { config: { fsync: 'on' } })
    expect(settings).toMatchObject({
      listen_addresses: '127.0.0.1',
      port: '7',
      unix_socket_directories: '',
      fsync: 'on',
    })
  })

  it('runs as another user where this one is root, since Postgres refuses root', () => {
    const passwd = 'root:x:0:0::/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\npostgres:x:101:104::/:/bin/sh\n'
    expect(serverUser(true, passwd)).toEqual({ uid: 101, gid: 104 })
    expect(serverUser(true, passwd.replace('postgres', 'other'))).toEqual({ uid: 65_534, gid: 65_533 })
    expect(serverUser(true, 'root:x:0:0::/root:/bin/sh\n')).toBeUndefined()
    expect(serverUser(false, passwd)).toBeUndefined()
  })
})

describe('the readiness of a Postgres', () => {
  it('is asked by one start message', () => {
    const message = encodeStartup('u', 'd')
    expect(message.readInt32BE(0)).toBe(message.length)
    expect(message.readInt32BE(4)).toBe(196_608)
    expect(message.subarray(8).toString()).toBe('user\0u\0database\0d\0\0')
  })

  it('is a question about credentials; an error is told by its message', () => {
    expect(readStartupAnswer(Buffer.from('R\0\0\0\x08\0\0\0\0', 'latin1'))).toBeUndefined()
    const error = Buffer.from('E\0\0\0\x30SFATAL\0C57P03\0Mthe database system is starting up\0\0', 'latin1')
    expect(readStartupAnswer(error)).toBe('the database system is starting up')
    expect(readStartupAnswer(Buffer.from('HTTP/1.1'))).toBe('an answer of another protocol')
  })
})
