/** Reads Kafka's wire types one after the other. A read past the end throws; nothing is made up. */
export class WireCursor {
  readonly bytes: Buffer
  position: number

  constructor(bytes: Buffer, position: number = 0) {
    this.bytes = bytes
    this.position = position
  }

  int8(): number {
    const value = this.bytes.readInt8(this.position)
    this.position += 1
    return value
  }

  int16(): number {
    const value = this.bytes.readInt16BE(this.position)
    this.position += 2
    return value
  }

  int32(): number {
    const value = this.bytes.readInt32BE(this.position)
    this.position += 4
    return value
  }

  int64(): bigint {
    const value = this.bytes.readBigInt64BE(this.position)
    this.position += 8
    return value
  }

  /** A variable-length number of at most 35 bits, not zigzag: lengths and tags of flexible versions. */
  unsignedVarint(): number {
    let value = 0
    let factor = 1
    for (let read = 0; read < 5; read += 1) {
      const byte = this.bytes[this.position]
      if (byte === undefined) throw new RangeError('the answer ends inside a number')
      this.position += 1
      value += (byte & 0x7f) * factor
      if (byte < 0x80) return value
      factor *= 128
    }
    throw new RangeError('a number longer than five bytes')
  }

  /** The length of a compact array, string or bytes; -1 stands for null. */
  compactLength(): number {
    return this.unsignedVarint() - 1
  }

  /**
   * A zigzag variable-length number. Units: exact within 2^53; beyond it only time stamps go, which are not checked.
   *
   * This is the innermost loop of decoding: most numbers of a record fit one byte.
   */
  varint(): number {
    const first = this.bytes[this.position]
    if (first === undefined) throw new RangeError('the batch ends inside a number')
    this.position += 1
    if (first < 0x80) return (first >>> 1) ^ -(first & 1)
    return this.#longVarint(first)
  }

  #longVarint(first: number): number {
    let value = first & 0x7f
    let factor = 128
    for (let read = 1; read < 10; read += 1) {
      const byte = this.bytes[this.position]
      if (byte === undefined) throw new RangeError('the batch ends inside a number')
      this.position += 1
      value += (byte & 0x7f) * factor
      // Zigzag without bit operators, which would cut the number to 32 bits.
      if (byte < 0x80) return value % 2 === 0 ? value / 2 : -(value + 1) / 2
      factor *= 128
    }
    throw new RangeError('a number longer than ten bytes')
  }

  /** Bytes as a view, without a copy. */
  view(length: number): Buffer {
    const end = this.position + length
    if (length < 0 || end > this.bytes.length) throw new RangeError(`${length} bytes are wanted, fewer are there`)
    const view = this.bytes.subarray(this.position, end)
    this.position = end
    return view
  }

  skip(length: number): void {
    if (length < 0 || this.position + length > this.bytes.length) throw new RangeError('the answer ends too early')
    this.position += length
  }

  /** Passes over tagged fields; `take` sees each with the cursor at its start and may read it. */
  taggedFields(take?: (tag: number) => void): void {
    const count = this.unsignedVarint()
    for (let index = 0; index < count; index += 1) {
      const tag = this.unsignedVarint()
      const size = this.unsignedVarint()
      const end = this.position + size
      if (end > this.bytes.length) throw new RangeError('the answer ends inside a tagged field')
      take?.(tag)
      // A field may have grown since it was known here; its size says where it ends.
      this.position = end
    }
  }
}
