import { execFile } from 'node:child_process'
import { pbkdf2Sync, randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Admin, alterUserScramCredentialsV0, Connection } from '@platformatic/kafka'
import type { KafkaCluster } from '@tidemark/testkit/service'
import { startKafka } from '@tidemark/testkit/service'
import type { KafkaFixture } from '../kafka-fixture.ts'
import { openFixture, waitFor } from '../kafka-fixture.ts'

export const password = 'p4ss-of-the-reader'

/** One broker with a plaintext, a SASL_PLAINTEXT and a SASL_SSL listener, permissions, and a short quota window. */
export interface GuardedCluster {
  readonly kafka: KafkaFixture
  readonly admin: Admin
  /** Three records that `reader` and the SCRAM users may read, and `blind` may only describe. */
  readonly topic: string
  /** Nobody has to log in. */
  readonly plain: string
  /** PLAIN and both SCRAM mechanisms; a SCRAM-SHA-256 login must be renewed within two seconds. */
  readonly sasl: string
  /** TLS, with SCRAM-SHA-512 alone. */
  readonly tls: string
  readonly ca: string
  readonly otherCa: string
  /** Gives the user that must renew its login another password. */
  changePassword(secret: string): Promise<void>
  close(): Promise<void>
}

const keyStorePassword = 'changeit'
const scramUsers = [
  { name: 'scram256', mechanism: 1, digest: 'sha256', bytes: 32 },
  { name: 'scram512', mechanism: 2, digest: 'sha512', bytes: 64 },
] as const

export async function startGuardedCluster(): Promise<GuardedCluster> {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-guarded-'))
  const closers: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })]
  const close = async (): Promise<void> => {
    for (const end of closers.splice(0).reverse()) await end()
  }
  try {
    const [own, other] = await Promise.all([certificate(directory, 'own'), certificate(directory, 'other')])
    const cluster = await startBroker(own.store)
    closers.push(() => cluster.close())
    const kafka = await openFixture(cluster.bootstrapBrokers)
    closers.push(() => kafka.close())
    const admin = new Admin({ clientId: 'guard', bootstrapBrokers: [...cluster.bootstrapBrokers] })
    closers.push(() => admin.close())
    const topic = await kafka.createTopic()
    await kafka.append(topic, 0, 3)
    const broker = cluster.bootstrapBrokers[0]!
    await setPasswords(broker, scramUsers, password)
    await grantAll(admin, topic)
    const [plain, sasl, tls] = [cluster.bootstrapBrokers, cluster.saslBrokers, cluster.proxiedBrokers].map(
      (brokers) => brokers[0]!,
    ) as [string, string, string]
    const changePassword = (secret: string): Promise<void> => setPasswords(broker, scramUsers.slice(0, 1), secret)
    return { kafka, admin, topic, plain, sasl, tls, ca: own.pem, otherCa: other.pem, changePassword, close }
  } catch (error) {
    await close()
    throw error
  }
}

/** A certificate that is its own authority. */
async function certificate(directory: string, name: string): Promise<{ readonly store: string; readonly pem: string }> {
  const store = join(directory, `${name}.p12`)
  const shared = ['-alias', 'one', '-keystore', store, '-storepass', keyStorePassword, '-storetype', 'PKCS12']
  const subject = ['-dname', `CN=${name}`, '-ext', 'san=ip:127.0.0.1,dns:localhost', '-ext', 'bc:c=ca:true']
  const key = ['-keyalg', 'RSA', '-keysize', '2048', '-validity', '2']
  await promisify(execFile)('keytool', ['-genkeypair', ...key, ...shared, ...subject])
  const exported = await promisify(execFile)('keytool', ['-exportcert', '-rfc', ...shared])
  return { store, pem: exported.stdout }
}

function startBroker(keyStore: string): Promise<KafkaCluster> {
  const user = (name: string) => ({ name, password, super: false })
  const scram = 'org.apache.kafka.common.security.scram.ScramLoginModule required;'
  return startKafka({
    users: [user('reader'), user('blind'), user('guest')],
    // The listener that a proxy would stand in front of is the one with TLS; nothing stands there.
    throughProxy: async ({ host, port }) => `${host}:${port}`,
    properties: {
      'listener.security.protocol.map':
        'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PROXIED:SASL_SSL,CLIENT:SASL_PLAINTEXT',
      'listener.name.client.sasl.enabled.mechanisms': 'PLAIN,SCRAM-SHA-256,SCRAM-SHA-512',
      'listener.name.client.scram-sha-256.sasl.jaas.config': scram,
      'listener.name.client.scram-sha-256.connections.max.reauth.ms': '2000',
      'listener.name.client.scram-sha-512.sasl.jaas.config': scram,
      'listener.name.proxied.sasl.enabled.mechanisms': 'SCRAM-SHA-512',
      'listener.name.proxied.scram-sha-512.sasl.jaas.config': scram,
      'listener.name.proxied.ssl.keystore.type': 'PKCS12',
      'listener.name.proxied.ssl.keystore.location': keyStore,
      'listener.name.proxied.ssl.keystore.password': keyStorePassword,
      'listener.name.proxied.ssl.key.password': keyStorePassword,
      // A standard window is eleven samples of a second, and a client over its quota waits for most of one.
      'quota.window.num': '3',
      // A standard broker holds every refused login back, for 100 ms and until it looks again.
      'connection.failed.authentication.delay.ms': '0',
    },
  })
}

type ScramUser = (typeof scramUsers)[number]

async function setPasswords(broker: string, given: readonly ScramUser[], secret: string): Promise<void> {
  const [host, port] = broker.split(':') as [string, string]
  const connection = new Connection('scram')
  await connection.connect(host, Number(port))
  const iterations = 4_096
  const users = given.map(({ name, mechanism, digest, bytes }) => {
    const salt = randomBytes(16)
    const saltedPassword = pbkdf2Sync(secret, salt, iterations, bytes, digest)
    return { name, mechanism, iterations, salt, saltedPassword }
  })
  await alterUserScramCredentialsV0.api.async(connection, [], users)
  await connection.close()
}

/** Permissions on the topic alone: the pinned log has no group. Kafka's numbers: operation 3 read, 8 describe, 10 configs. */
async function grantAll(admin: Admin, topic: string): Promise<void> {
  const grant = (user: string, operation: number) => ({
    resourceType: 2,
    resourceName: topic,
    resourcePatternType: 3,
    principal: `User:${user}`,
    host: '*',
    operation,
    permissionType: 3,
  })
  const readers = ['reader', ...scramUsers.map(({ name }) => name)]
  const creations = [...readers.flatMap((user) => [3, 8, 10].map((operation) => grant(user, operation)))]
  creations.push(grant('blind', 8))
  await admin.createAcls({ creations: creations as never })
  const resource = { resourceType: 2, resourceName: topic, patternType: 3, resourcePatternType: 3 }
  await waitFor(async () => {
    const filter = { ...resource, principal: null, host: null, operation: 1, permissionType: 1 }
    const told = (await admin.describeAcls({ filter: filter as never })) as readonly {
      readonly acls: readonly unknown[]
    }[]
    return told.reduce((sum, { acls }) => sum + acls.length, 0) === creations.length
  })
}
