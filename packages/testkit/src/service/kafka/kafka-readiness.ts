import { askOnce } from '../process/socket-request.ts'

const metadataKey = 3
const metadataVersion = 1

/** What one broker says about its cluster. */
export interface KafkaMetadata {
  readonly nodeIds: readonly number[]
  readonly addresses: readonly string[]
  readonly controllerId: number
}

/** A Metadata v1 request for no topics; by hand, so that readiness depends on no client under test. */
export function encodeMetadataRequest(correlationId: number): Buffer {
  const clientId = Buffer.from('tidemark-readiness')
  const body = Buffer.alloc(4 + 2 + 2 + 4 + 2 + clientId.length + 4)
  let at = body.writeInt32BE(body.length - 4, 0)
  at = body.writeInt16BE(metadataKey, at)
  at = body.writeInt16BE(metadataVersion, at)
  at = body.writeInt32BE(correlationId, at)
  at = body.writeInt16BE(clientId.length, at)
  at += clientId.copy(body, at)
  body.writeInt32BE(0, at)
  return body
}

/**
 * Reads a Metadata v1 answer.
 *
 * Throws: RangeError when the answer is shorter than its own lengths say.
 */
export function decodeMetadataAnswer(answer: Buffer): KafkaMetadata {
  let at = 8
  const int32 = (): number => {
    at += 4
    return answer.readInt32BE(at - 4)
  }
  const string = (): string | null => {
    const length = answer.readInt16BE(at)
    at += 2
    if (length < 0) return null
    at += length
    return answer.toString('utf8', at - length, at)
  }
  const nodeIds: number[] = []
  const addresses: string[] = []
  for (let left = int32(); left > 0; left -= 1) {
    nodeIds.push(int32())
    const host = string()
    addresses.push(`${host}:${int32()}`)
    string()
  }
  return { nodeIds: nodeIds.sort((a, b) => a - b), addresses, controllerId: int32() }
}

/** Asks one broker for its cluster; for plaintext listeners only. */
export async function askKafkaMetadata(host: string, port: number, timeoutMs: number): Promise<KafkaMetadata> {
  const answer = await askOnce({
    host,
    port,
    timeoutMs,
    bytes: encodeMetadataRequest(1),
    wholeAt: (received) => (received.length < 4 ? undefined : 4 + received.readInt32BE(0)),
  })
  return decodeMetadataAnswer(answer)
}

/**
 * Whether a broker answers Metadata with a controller and at least these nodes: `undefined` when it does, else what it said.
 *
 * A broker that accepts connections but is still fenced lists no brokers; topics could not be created on it.
 */
export async function probeKafka(
  host: string,
  port: number,
  expectedNodeIds: readonly number[],
  timeoutMs: number,
): Promise<string | undefined> {
  try {
    const { nodeIds, controllerId } = await askKafkaMetadata(host, port, timeoutMs)
    const missing = expectedNodeIds.filter((nodeId) => !nodeIds.includes(nodeId))
    if (nodeIds.length === 0 || controllerId < 0) return 'no broker registered yet'
    return missing.length === 0 ? undefined : `broker ${missing.join(', ')} not registered yet`
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}
