import { compressionsAlgorithms, crc32c } from '@platformatic/kafka'

/** A record of a batch made for a test. */
export interface TestRecord {
  readonly delta: number
  readonly key?: Buffer | null
  readonly value?: Buffer | null
  readonly timestampDelta?: number
  readonly headers?: readonly (readonly [string, Buffer | null])[]
}

/** A batch made for a test. */
export interface TestBatch {
  readonly base: bigint
  readonly records: readonly TestRecord[]
  readonly lastDelta?: number
  readonly epoch?: number
  readonly codec?: 'none' | 'gzip' | 'snappy' | 'lz4' | number
  readonly producerId?: bigint
  readonly transactional?: boolean
  readonly control?: boolean
  readonly appendTime?: boolean
  readonly baseTimestamp?: bigint
  readonly maxTimestamp?: bigint
  /** Replaces the records section after compression. */
  readonly payload?: Buffer
}

/** The bytes of a batch in message format 2, written independently of the reader under test. */
export function batchBytes(batch: TestBatch): Buffer {
  const codec = batch.codec ?? 'none'
  const plain = Buffer.concat(batch.records.map(recordBytes))
  const payload =
    batch.payload ??
    (typeof codec === 'number' ? plain : Buffer.from(compressionsAlgorithms[codec].compressSync(plain)))
  const checked = Buffer.alloc(40)
  const bit = typeof codec === 'number' ? codec : compressionsAlgorithms[codec].bitmask
  const attributes = bit | (batch.appendTime ? 8 : 0) | (batch.transactional ? 16 : 0) | (batch.control ? 32 : 0)
  checked.writeInt16BE(attributes, 0)
  checked.writeInt32BE(batch.lastDelta ?? batch.records.at(-1)?.delta ?? 0, 2)
  checked.writeBigInt64BE(batch.baseTimestamp ?? 1_700_000_000_000n, 6)
  checked.writeBigInt64BE(batch.maxTimestamp ?? 1_700_000_009_999n, 14)
  checked.writeBigInt64BE(batch.producerId ?? -1n, 22)
  checked.writeInt16BE(0, 30)
  checked.writeInt32BE(-1, 32)
  checked.writeInt32BE(batch.records.length, 36)
  const body = Buffer.concat([checked, payload])
  const head = Buffer.alloc(21)
  head.writeBigInt64BE(batch.base, 0)
  head.writeInt32BE(9 + body.length, 8)
  head.writeInt32BE(batch.epoch ?? 3, 12)
  head.writeInt8(2, 16)
  head.writeUInt32BE(crc32c(body), 17)
  return Buffer.concat([head, body])
}

/** The marker that ends a transaction of a producer. */
export function markerBytes(base: bigint, producerId: bigint, type: 'abort' | 'commit'): Buffer {
  const key = Buffer.from([0, 0, 0, type === 'abort' ? 0 : 1])
  const records = [{ delta: 0, key, value: Buffer.alloc(6) }]
  return batchBytes({ base, records, producerId, transactional: true, control: true })
}

function recordBytes({ delta, key = null, value = null, timestampDelta = 0, headers = [] }: TestRecord): Buffer {
  const body = Buffer.concat([
    Buffer.from([0]),
    zigzag(BigInt(timestampDelta)),
    zigzag(BigInt(delta)),
    sized(key),
    sized(value),
    zigzag(BigInt(headers.length)),
    ...headers.flatMap(([name, bytes]) => [sized(Buffer.from(name)), sized(bytes)]),
  ])
  return Buffer.concat([zigzag(BigInt(body.length)), body])
}

function sized(bytes: Buffer | null): Buffer {
  return bytes === null ? zigzag(-1n) : Buffer.concat([zigzag(BigInt(bytes.length)), bytes])
}

function zigzag(value: bigint): Buffer {
  let rest = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n))
  const bytes: number[] = []
  for (; rest >= 0x80n; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80)
  bytes.push(Number(rest))
  return Buffer.from(bytes)
}
