/** How many slots a cluster has. */
export const SLOT_COUNT = 16_384

const table: Uint16Array = Uint16Array.from({ length: 256 }, (_, byte) => {
  let crc = byte << 8
  for (let bit = 0; bit < 8; bit += 1) crc = (crc & 0x8000) === 0 ? crc << 1 : (crc << 1) ^ 0x1021
  return crc & 0xffff
})

/**
 * The slot of a key: CRC-16/XMODEM of its hash tag, or of all of it.
 *
 * Source: Redis Cluster specification, "Hash tags": the part between the first `{` and the first `}` after it, unless empty.
 */
export function keySlot(key: string): number {
  const open = key.indexOf('{')
  const close = open < 0 ? -1 : key.indexOf('}', open + 1)
  const hashed = close > open + 1 ? key.slice(open + 1, close) : key
  let crc = 0
  for (const byte of Buffer.from(hashed)) crc = ((crc << 8) & 0xffff) ^ table[((crc >> 8) ^ byte) & 0xff]!
  return crc % SLOT_COUNT
}
