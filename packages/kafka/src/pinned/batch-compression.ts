import zlib from 'node:zlib'
import { messageOf } from '@tidemark/core'
import type { InspectorClient } from '../client-packages.ts'

/** Turns the compressed records of a batch into plain ones, by Kafka's number of the codec. */
export type Decompress = (codec: number, compressed: Buffer) => Buffer

/** A batch that cannot be read. Its message says what is wrong with it. */
export class UnreadableBatch extends Error {}

/** The most bytes one batch may expand to; brokers accept batches of 1 MiB unless told otherwise. */
export const BATCH_BYTES_MAX: number = 512 * 1024 * 1024

const codecs = { none: 0, gzip: 1, snappy: 2, lz4: 3, zstd: 4 } as const

/** How Java's snappy writer begins; after it come two numbers and then blocks with a length before each. */
const SNAPPY_BLOCKS_MAGIC = Buffer.from([0x82, 0x53, 0x4e, 0x41, 0x50, 0x50, 0x59, 0x00])
const SNAPPY_BLOCKS_HEADER_BYTES = 16

/** `zstdDecompressSync` is in Node.js from 22.15 on. */
type ZstdDecompress = (data: Buffer, options: { readonly maxOutputLength: number }) => Buffer

/**
 * Decompression with what Node.js and the client bring: gzip and lz4 and snappy everywhere, zstd where Node.js has it.
 *
 * @throws {UnreadableBatch} from the returned function: for damaged bytes, and for a codec that cannot be read here.
 */
export function newDecompress(
  client: Pick<InspectorClient, 'compressionsAlgorithms'>,
  zstd: ZstdDecompress | null = (zlib as { zstdDecompressSync?: ZstdDecompress }).zstdDecompressSync ?? null,
): Decompress {
  const { snappy, lz4 } = client.compressionsAlgorithms
  const decompress: Decompress = (codec, compressed) => {
    switch (codec) {
      case codecs.none:
        return compressed
      case codecs.gzip:
        return zlib.gunzipSync(compressed, { maxOutputLength: BATCH_BYTES_MAX })
      case codecs.snappy:
        return unsnap(compressed, snappy.decompressSync)
      case codecs.lz4:
        return lz4.decompressSync(compressed)
      case codecs.zstd:
        if (zstd === null) throw new UnreadableBatch(NO_ZSTD)
        return zstd(compressed, { maxOutputLength: BATCH_BYTES_MAX })
      default:
        throw new UnreadableBatch(`compressed with codec ${codec}, which is not known`)
    }
  }
  return (codec, compressed) => {
    try {
      return decompress(codec, compressed)
    } catch (error) {
      if (error instanceof UnreadableBatch) throw error
      const name = Object.entries(codecs).find(([, number]) => number === codec)?.[0] ?? codec
      throw new UnreadableBatch(`damaged ${name} bytes: ${messageOf(error)}`, { cause: error })
    }
  }
}

const NO_ZSTD = `compressed with zstd, which Node.js ${process.versions.node} cannot read; 22.15 and later can, and so can the official client`

function unsnap(compressed: Buffer, block: (data: Buffer) => Buffer): Buffer {
  if (!compressed.subarray(0, SNAPPY_BLOCKS_MAGIC.length).equals(SNAPPY_BLOCKS_MAGIC))
    return unsnapBlock(compressed, block)
  const blocks: Buffer[] = []
  let total = 0
  for (let at = SNAPPY_BLOCKS_HEADER_BYTES; at < compressed.length;) {
    const length = compressed.readInt32BE(at)
    at += 4
    if (length <= 0 || at + length > compressed.length)
      throw new UnreadableBatch('damaged snappy bytes: a block is cut off')
    const plain = unsnapBlock(compressed.subarray(at, at + length), block)
    total += plain.length
    if (total > BATCH_BYTES_MAX) throw tooLarge(total)
    blocks.push(plain)
    at += length
  }
  return blocks.length === 1 ? blocks[0]! : Buffer.concat(blocks)
}

/** A snappy block begins with the length it expands to: asked before anything is allocated for it. */
function unsnapBlock(compressed: Buffer, block: (data: Buffer) => Buffer): Buffer {
  let length = 0
  let factor = 1
  for (let at = 0; at < 5; at += 1) {
    const byte = compressed[at]
    if (byte === undefined) throw new UnreadableBatch('damaged snappy bytes: no length')
    length += (byte & 0x7f) * factor
    if (byte < 0x80) break
    factor *= 128
  }
  if (length > BATCH_BYTES_MAX) throw tooLarge(length)
  return block(compressed)
}

function tooLarge(bytes: number): UnreadableBatch {
  return new UnreadableBatch(`it expands to ${bytes} bytes, more than ${BATCH_BYTES_MAX}`)
}
