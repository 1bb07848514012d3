// The module that the tests hand to --project, as a host would write one.
import { undecodable } from '@tidemark/checkpoint'
import type { CommutingWriter, ProjectedDataReader, Undecodable } from '@tidemark/checkpoint'
import type { LogRecord } from '@tidemark/log'

/** The value of a record of these tests. */
export function dispatchValue(user: string, conversation: string, at: number): Uint8Array {
  return new TextEncoder().encode(JSON.stringify({ user, conversation, at }))
}

export function project(record: LogRecord, write: CommutingWriter): Undecodable | void {
  const text = new TextDecoder().decode(record.value ?? new Uint8Array())
  if (!text.startsWith('{')) return undecodable('it is not a dispatch')
  const { user, conversation, at } = JSON.parse(text) as { user: string; conversation: string; at: number }
  write.zadd(`convs:${user}`, 'GT', at, conversation)
}

let seen = 0

/** Says when it meets its first record, and takes a while over it. */
export function slow(record: LogRecord, write: CommutingWriter): Undecodable | void {
  if (seen === 0) {
    process.stderr.write('first record\n')
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_500)
  }
  seen += 1
  return project(record, write)
}

/** Throws at the first record. */
export function failing(): void {
  throw new Error('a fault of the host')
}

/** Not a function. */
export const wrong = 'a text'

/** A second source of truth that knows nothing, so that nothing is compared with it. */
export const canonical: ProjectedDataReader = {
  readValues: async (keys) => keys.map(() => ({ kind: 'absent' })),
}
