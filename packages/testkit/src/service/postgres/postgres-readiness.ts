import { askOnce } from '../process/socket-request.ts'

/** A start message of protocol 3.0; by hand, so that readiness depends on no client under test. */
export function encodeStartup(user: string, database: string): Buffer {
  const words = ['user', user, 'database', database, ''].map((word) => `${word}\0`).join('')
  const message = Buffer.alloc(8 + Buffer.byteLength(words))
  message.writeInt32BE(message.length, 0)
  message.writeInt32BE(196_608, 4)
  message.write(words, 8, 'utf8')
  return message
}

/**
 * Whether a Postgres takes connections: `undefined` when it does, else what it said.
 *
 * A server that asks for a password is up; the tests of wrong credentials need exactly that.
 */
export async function probePostgres(host: string, port: number, timeoutMs: number): Promise<string | undefined> {
  try {
    const answer = await askOnce({
      host,
      port,
      timeoutMs,
      bytes: encodeStartup('postgres', 'postgres'),
      wholeAt: (received) => (received.length < 5 ? undefined : 1 + received.readInt32BE(1)),
    })
    return readStartupAnswer(answer)
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

/** What the first message of an answer means: a question about credentials is readiness, an error is its message. */
export function readStartupAnswer(answer: Buffer): string | undefined {
  if (answer[0] === 0x52) return undefined
  if (answer[0] !== 0x45) return 'an answer of another protocol'
  const fields = answer.subarray(5).toString('utf8').split('\0')
  return fields.find((field) => field.startsWith('M'))?.slice(1) ?? 'an error without a message'
}
