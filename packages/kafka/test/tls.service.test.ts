import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import type { AddressInfo, Socket } from 'node:net'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Server } from 'node:tls'
import { createServer } from 'node:tls'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { judgeSurvey } from '@tidemark/log'
import type { KafkaCluster } from '@tidemark/testkit/service'
import { freePorts, startKafka } from '@tidemark/testkit/service'
import { createKafkaLog } from '../src/index.ts'
import { at, readUntil, waitFor } from './kafka-fixture.ts'
import { called, rawClient } from './kafka-fixture.ts'

// The broker advertises a port where TLS ends, so that both clients must speak TLS for every connection they open.
let directory: string
let cluster: KafkaCluster
let terminator: Server
let broker: string
let ca: string
let otherCa: string
const sockets = new Set<Socket>()
const topic = 'over-tls'

async function certificate(name: string): Promise<{ readonly pfx: Buffer; readonly pem: string }> {
  const store = join(directory, `${name}.p12`)
  const shared = ['-alias', 'one', '-keystore', store, '-storepass', 'changeit', '-storetype', 'PKCS12']
  const subject = ['-dname', `CN=${name}`, '-ext', 'san=ip:127.0.0.1,dns:localhost', '-ext', 'bc:c=ca:true']
  await promisify(execFile)('keytool', [
    '-genkeypair',
    '-keyalg',
    'RSA',
    '-keysize',
    '2048',
    '-validity',
    '2',
    ...shared,
    ...subject,
  ])
  const exported = await promisify(execFile)('keytool', ['-exportcert', '-rfc', ...shared])
  return { pfx: await readFile(store), pem: exported.stdout }
}

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'tidemark-tls-'))
  const [own, other] = [await certificate('own'), await certificate('other')]
  ca = own.pem
  otherCa = other.pem
  const [port] = await freePorts(1)
  cluster = await startKafka({ properties: { 'advertised.listeners': `PLAINTEXT://127.0.0.1:${port}` } })
  const upstream = Number(cluster.bootstrapBrokers[0]!.split(':')[1])
  terminator = createServer({ pfx: own.pfx, passphrase: 'changeit' }, (secure) => {
    const plain = connect(upstream, '127.0.0.1')
    for (const [socket, peer] of [
      [secure, plain],
      [plain, secure],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => peer.destroy())
      socket.on('close', () => sockets.delete(socket))
      socket.pipe(peer)
    }
  })
  terminator.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => terminator.listen(port, '127.0.0.1', resolve))
  broker = `127.0.0.1:${(terminator.address() as AddressInfo).port}`
  const options = { 'bootstrap.servers': broker, 'security.protocol': 'ssl', 'ssl.ca.pem': ca }
  const admin = rawClient.AdminClient.create(options)
  await called((done) => admin.createTopic({ topic, num_partitions: 1, replication_factor: 1 }, 20_000, done))
  const producer = new rawClient.Producer(options)
  await called((done) => producer.connect({ timeout: 10_000 }, done))
  producer.setPollInterval(20)
  producer.produce(topic, 0, Buffer.from('secret'), 'k')
  await called((done) => producer.flush(10_000, done))
  await called((done) => producer.disconnect(done))
  admin.disconnect()
})

afterAll(async () => {
  for (const socket of sockets) socket.destroy()
  await new Promise((resolve) => (terminator === undefined ? resolve(undefined) : terminator.close(resolve)))
  await cluster?.close()
  if (directory !== undefined) await rm(directory, { recursive: true, force: true })
})

const positions = [{ partition: 0, nextOffset: at(0) }]

describe('TLS', () => {
  it('[KAF-13] one description serves both clients, certificate and address verified', async () => {
    const log = createKafkaLog({ brokers: [broker], security: { tls: { ca } } })
    await waitFor(async () => {
      const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 5000 })
      return judgeSurvey(survey, undefined).kind === 'proven'
    })
    expect(await log.inspector.readBounds(topic, 1, { deadlineMs: 5000 })).toMatchObject({ kind: 'bounds' })
    const reader = await log.openReader({ topic, positions, deadlineMs: 10_000 })
    const { records } = await readUntil(reader, ({ ends }) => ends.has(0))
    expect(records.map(({ value }) => Buffer.from(value!).toString())).toEqual(['secret'])
    await log.close()
  })

  it.each([
    ['another authority', { tls: { ca: 'other' } } as const],
    ['the public authorities', { tls: true } as const],
    ['no TLS at all', {} as const],
  ])('[KAF-13] [KAF-7] a client that trusts %s is refused within the deadline', async (_name, security) => {
    const tls = 'tls' in security ? { tls: security.tls === true ? (true as const) : { ca: otherCa } } : {}
    const log = createKafkaLog({ brokers: [broker], security: tls })
    const before = performance.now()
    await expect(log.openReader({ topic, positions, deadlineMs: 2000 })).rejects.toMatchObject({
      code: 'TM_KAFKA_UNREACHABLE',
    })
    expect(performance.now() - before).toBeLessThan(6000)
    const survey = await log.inspector.surveyIdentity(topic, { deadlineMs: 2000 })
    expect(judgeSurvey(survey, undefined)).toMatchObject({ kind: 'unproven' })
    await log.close()
  })
})
