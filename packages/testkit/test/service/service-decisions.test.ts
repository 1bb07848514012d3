import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { describe, expect, it } from 'vitest'
import { chooseBackend, kafkaEndpoint } from '@tidemark/testkit/service'
import { parseBrokers } from '../../src/service/kafka/kafka-endpoint.ts'
import { formatProperties, kafkaProperties } from '../../src/service/kafka/kafka-properties.ts'
import type { KafkaNodePorts } from '../../src/service/kafka/kafka-properties.ts'
import { decodeMetadataAnswer, encodeMetadataRequest } from '../../src/service/kafka/kafka-readiness.ts'
import { newKafkaUuid } from '../../src/service/kafka/kafka-storage.ts'
import { startOwnedProcess } from '../../src/service/process/owned-process.ts'
import { makePrivateDirectory, removePrivateDirectory } from '../../src/service/process/private-directory.ts'
import { waitUntilReady } from '../../src/service/process/wait-until-ready.ts'
import { probeRedis } from '../../src/service/redis/redis-readiness.ts'
import { redisConfig } from '../../src/service/redis/redis-server.ts'

describe('chooseBackend', () => {
  const facts = {
    service: 'Redis',
    variable: 'REDIS_URL',
    address: undefined,
    dockerAnswers: false,
    localFound: false,
    remedy: 'install redis-server',
  }
  it('takes an address before Docker before a local binary', () => {
    const all = { ...facts, address: 'redis://h', dockerAnswers: true, localFound: true }
    expect(chooseBackend(all)).toEqual({ kind: 'address', address: 'redis://h' })
    expect(chooseBackend({ ...all, address: ' ' })).toEqual({ kind: 'docker' })
    expect(chooseBackend({ ...all, address: undefined, dockerAnswers: false })).toEqual({ kind: 'local' })
  })

  it('names what was tried and the remedy when there is nothing', () => {
    expect(chooseBackend(facts)).toEqual({
      kind: 'unavailable',
      tried: ['no REDIS_URL', 'no Docker engine answered', 'no local Redis'],
      remedy: 'install redis-server',
    })
  })
})

describe('parseBrokers', () => {
  it('reads one or more host:port', () => {
    expect(parseBrokers('a:1, [::1]:9092')).toEqual([
      { host: 'a', port: 1 },
      { host: '[::1]', port: 9092 },
    ])
  })

  it.each(['', 'host', 'host:', 'a:1,', 'a:port'])('refuses %j', (address) => {
    expect(() => parseBrokers(address)).toThrow(/host:port/)
  })
})

describe('kafkaProperties', () => {
  const node = (nodeId: number, sasl?: number): KafkaNodePorts => ({
    nodeId,
    plaintext: 1000 + nodeId,
    controller: 2000 + nodeId,
    sasl,
  })
  const make = (nodes: readonly KafkaNodePorts[], rest: object = {}): Readonly<Record<string, string>> =>
    kafkaProperties({ node: nodes[0]!, nodes, voters: nodes, dataDirectory: '/d', users: [], overrides: {}, ...rest })

  it('listens on the loopback address only and creates no topic by itself', () => {
    const properties = make([node(1)])
    expect(properties['listeners']).toBe('PLAINTEXT://127.0.0.1:1001,CONTROLLER://127.0.0.1:2001')
    expect(properties['auto.create.topics.enable']).toBe('false')
    expect(properties['authorizer.class.name']).toBeUndefined()
  })

  it('advertises a proxy for its second listener only, so that the other stays direct', () => {
    const properties = make([{ ...node(1), proxied: { port: 4001, advertised: '127.0.0.1:5001' } }])
    const controller = 'CONTROLLER://127.0.0.1:2001'
    const direct = 'PLAINTEXT://127.0.0.1:1001'
    expect(properties['listeners']).toBe(`${direct},PROXIED://127.0.0.1:4001,${controller}`)
    expect(properties['advertised.listeners']).toBe(`${direct},PROXIED://127.0.0.1:5001`)
    expect(properties['inter.broker.listener.name']).toBe('PLAINTEXT')
  })

  it('makes three nodes one quorum whose internal topics live on all', () => {
    const properties = make([node(1), node(2), node(3)])
    expect(properties['controller.quorum.voters']).toBe('1@127.0.0.1:2001,2@127.0.0.1:2002,3@127.0.0.1:2003')
    expect(properties['offsets.topic.replication.factor']).toBe('3')
  })

  it('makes a node beside the only controller a broker and nothing else', () => {
    const nodes = [node(1), node(2), node(3)]
    const broker = make(nodes, { node: nodes[1], voters: [nodes[0]] })
    expect(broker['process.roles']).toBe('broker')
    expect(broker['listeners']).toBe('PLAINTEXT://127.0.0.1:1002')
    expect(broker['controller.quorum.voters']).toBe('1@127.0.0.1:2001')
    expect(make(nodes, { voters: [nodes[0]] })['process.roles']).toBe('broker,controller')
  })

  it('grants users nothing unless they are super users', () => {
    const users = [
      { name: 'owner', password: 'p1', super: true },
      { name: 'guest', password: 'p2', super: false },
    ]
    const properties = make([node(1, 3001)], { users })
    expect(properties['super.users']).toBe('User:ANONYMOUS;User:owner')
    expect(properties['listeners']).toContain('CLIENT://127.0.0.1:3001')
    expect(properties['allow.everyone.if.no.acl.found']).toBe('false')
  })

  it('lets overrides win and escapes what the format would read otherwise', () => {
    expect(make([node(1)], { overrides: { 'log.dirs': '/other' } })['log.dirs']).toBe('/other')
    expect(formatProperties({ a: 'b\\c' })).toBe('a=b\\\\c\n')
  })
})

describe('the Metadata request of the readiness probe', () => {
  it('is one length-prefixed frame', () => {
    const request = encodeMetadataRequest(7)
    expect(request.readInt32BE(0)).toBe(request.length - 4)
    expect([request.readInt16BE(4), request.readInt16BE(6), request.readInt32BE(8)]).toEqual([3, 1, 7])
  })

  it('reads brokers and the controller, and throws on a cut answer', () => {
    const answer = Buffer.from(
      [
        '00000000', // length, not read
        '00000007', // correlation id
        '00000001', // one broker
        '00000002', // node 2
        '0001', // host of one byte
        '68', // h
        '00002384', // port 9092
        'ffff', // no rack
        '00000002', // controller
        '00000000', // no topics
      ].join(''),
      'hex',
    )
    expect(decodeMetadataAnswer(answer)).toEqual({ nodeIds: [2], addresses: ['h:9092'], controllerId: 2 })
    expect(() => decodeMetadataAnswer(answer.subarray(0, 20))).toThrow(RangeError)
  })
})

describe('newKafkaUuid', () => {
  it('never begins with a dash, which Kafka tools take for an option', () => {
    const ids = Array.from({ length: 500 }, newKafkaUuid)
    expect(ids.every((id) => /^[\w][\w-]{21}$/.test(id))).toBe(true)
  })
})

describe('redisConfig', () => {
  it('binds to the loopback address, quotes the empty value, and lets the caller win', () => {
    const lines = redisConfig(7, '/d', { password: 'a"b', config: { appendonly: 'yes', maxmemory: '4mb' } }).split('\n')
    expect(lines).toEqual(
      expect.arrayContaining([
        'bind 127.0.0.1',
        'port 7',
        'save ""',
        'appendonly yes',
        'maxmemory 4mb',
        'requirepass "a\\"b"',
      ]),
    )
    expect(lines).not.toContain('appendonly no')
  })
})

describe('a service that cannot be had', () => {
  const nowhere = { PATH: '/nowhere', TIDEMARK_KAFKA_HOME: '/nowhere' }

  it('is an error with what was tried and the remedy, never a skip', async () => {
    await expect(kafkaEndpoint({ ...nowhere, KAFKA_BROKERS: 'no-port' })).rejects.toMatchObject({
      code: 'TM_SERVICE_UNAVAILABLE',
      message: expect.stringContaining('write host:port'),
    })
  })

  it('is not ready when its address answers with another protocol, and says what came instead', async () => {
    const echo = createServer((socket) =>
      socket
        .on('error', () => {})
        .resume()
        .end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    )
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    const { port } = echo.address() as AddressInfo
    const probe = (timeoutMs: number): Promise<string | undefined> => probeRedis('127.0.0.1', port, timeoutMs)
    const waiting = waitUntilReady({ service: 'Redis', address: `127.0.0.1:${port}`, timeoutMs: 200, probe })
    await expect(waiting).rejects.toMatchObject({
      code: 'TM_SERVICE_NOT_READY',
      message: expect.stringContaining('HTTP/1.1 400'),
    })
    await new Promise((resolve) => echo.close(resolve))
  })
})

describe('a process of our own', () => {
  it('refuses a step that its state does not allow', async () => {
    const directory = makePrivateDirectory('owned')
    const owned = await startOwnedProcess({ name: 'sleep', command: 'sleep', args: ['60'], directory })
    expect(() => owned.resume()).toThrow(expect.objectContaining({ code: 'TM_SERVICE_STATE_INVALID' }))
    owned.pause()
    expect(() => owned.pause()).toThrow(expect.objectContaining({ code: 'TM_SERVICE_STATE_INVALID' }))
    await owned.stop()
    expect([owned.state(), owned.exit()]).toEqual(['dead', 'SIGTERM'])
    removePrivateDirectory(directory)
  })
})
