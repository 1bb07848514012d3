import { askOnce } from '../process/socket-request.ts'
import { createRespFrameReader } from '../proxy/resp-frames.ts'

/**
 * One command over a connection of its own; its raw reply as text.
 *
 * Throws: a plain Error when there is no answer in time; an error reply is an answer and comes back as its text.
 */
export async function askRedis(
  at: { readonly host: string; readonly port: number },
  ...words: string[]
): Promise<string> {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`)
  const answer = await askOnce({
    host: at.host,
    port: at.port,
    timeoutMs: 2_000,
    bytes: Buffer.from(`*${words.length}\r\n${parts.join('')}`),
    wholeAt: (received) => createRespFrameReader().push(received)[0]?.bytes.length,
  })
  return answer.toString('utf8').trim()
}
