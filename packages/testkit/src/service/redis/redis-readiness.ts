import { askOnce } from '../process/socket-request.ts'

/**
 * Whether a Redis answers PING: `undefined` when it serves, else what it said.
 *
 * A server that demands a password says NOAUTH: it is up, and the tests of wrong credentials need exactly that.
 * LOADING is not ready: it would refuse the first real command.
 */
export async function probeRedis(host: string, port: number, timeoutMs: number): Promise<string | undefined> {
  try {
    const answer = await askOnce({
      host,
      port,
      timeoutMs,
      bytes: Buffer.from('*1\r\n$4\r\nPING\r\n'),
      wholeAt: (received) => {
        const end = received.indexOf('\r\n')
        return end < 0 ? undefined : end + 2
      },
    })
    const line = answer.toString('utf8').trim()
    return line === '+PONG' || line.startsWith('-NOAUTH') ? undefined : line
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
