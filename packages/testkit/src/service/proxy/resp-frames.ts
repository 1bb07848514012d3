/** One whole value of the Redis protocol, cut out of a byte stream. */
export interface RespFrame {
  readonly bytes: Buffer
  /** The type byte; `inline` for a command typed as a plain line. */
  readonly kind: string
}

/** Cuts a byte stream into whole RESP2/RESP3 values, however the network cut it into chunks. */
export interface RespFrameReader {
  /** Takes a chunk and gives the values it completes, in order. */
  push(chunk: Buffer): RespFrame[]
  /** Bytes of a value that is not whole yet. */
  pending(): number
}

/** A reader for one direction of one connection. */
export function createRespFrameReader(): RespFrameReader {
  let buffer: Buffer = Buffer.alloc(0)
  return {
    push(chunk) {
      buffer = buffer.length === 0 ? chunk : Buffer.concat([buffer, chunk])
      const frames: RespFrame[] = []
      let start = 0
      for (;;) {
        const end = endOfValue(buffer, start)
        if (end === undefined) break
        const kind = String.fromCharCode(buffer[start]!)
        frames.push({ bytes: buffer.subarray(start, end), kind: lengthKinds.test(kind) ? kind : 'inline' })
        start = end
      }
      buffer = buffer.subarray(start)
      return frames
    },
    pending: () => buffer.length,
  }
}

/** The command's name in capitals: the first element of its array, or the first word of an inline line. */
export function commandNameOf(frame: RespFrame): string {
  const text = frame.bytes.toString('latin1')
  const match = frame.kind === '*' ? /^\*\d+\r\n\$\d+\r\n([^\r\n]*)/.exec(text) : /^\s*([^\s]*)/.exec(text)
  return (match?.[1] ?? '').toUpperCase()
}

const lengthKinds = /^[+\-:_#,($!=*~>%|]$/

/** The index after the value that starts at `start`, or `undefined` while it is not whole. */
function endOfValue(buffer: Buffer, start: number): number | undefined {
  const lineEnd = buffer.indexOf('\r\n', start)
  if (lineEnd < 0) return undefined
  const afterLine = lineEnd + 2
  const kind = String.fromCharCode(buffer[start]!)
  const count = (): number => Number(buffer.toString('latin1', start + 1, lineEnd))
  switch (kind) {
    case '$':
    case '!':
    case '=': {
      const length = count()
      const end = length < 0 ? afterLine : afterLine + length + 2
      return end <= buffer.length ? end : undefined
    }
    case '*':
    case '~':
    case '>':
      return endOfValues(buffer, afterLine, count())
    case '%':
      return endOfValues(buffer, afterLine, 2 * count())
    case '|':
      // Attributes belong to the value that follows them.
      return endOfValues(buffer, afterLine, 2 * count() + 1)
    default:
      return afterLine
  }
}

function endOfValues(buffer: Buffer, start: number, count: number): number | undefined {
  let at: number | undefined = start
  for (let left = count; left > 0 && at !== undefined; left -= 1) at = endOfValue(buffer, at)
  return at
}
