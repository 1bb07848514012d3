import { connect } from 'node:net'

/** One request over a fresh loopback connection. */
export interface SocketRequest {
  readonly host: string
  readonly port: number
  readonly bytes: Uint8Array
  /** How many bytes make a whole answer, given what has arrived; `undefined` while that is not known. */
  readonly wholeAt: (received: Buffer) => number | undefined
  readonly timeoutMs: number
}

/**
 * Sends one request and returns its whole answer.
 *
 * Throws: a plain Error with the reason (refused, closed early, time-out); readiness probes turn it into their last answer.
 */
export function askOnce(request: SocketRequest): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let received: Buffer = Buffer.alloc(0)
    const socket = connect({ host: request.host, port: request.port })
    const finish = (error: Error | undefined): void => {
      socket.destroy()
      if (error === undefined) resolve(received)
      else reject(error)
    }
    socket.setTimeout(request.timeoutMs, () => finish(new Error('no answer in time')))
    socket.once('error', finish)
    socket.once('close', () => finish(new Error('connection closed')))
    socket.once('connect', () => socket.write(request.bytes))
    socket.on('data', (chunk) => {
      received = Buffer.concat([received, chunk])
      const whole = request.wholeAt(received)
      if (whole !== undefined && received.length >= whole) finish(undefined)
    })
  })
}
