import { open } from 'node:fs/promises'
import { scanFrames } from '../files/frame-scan.ts'
import type { TransactionId } from '../log/batch-codec.ts'
import { abortedFile } from '../log/log-layout.ts'

/** Which transactions of a partition were aborted, read again only when the file has grown. */
export interface AbortedTransactions {
  /** Reads what was added since. Call it after reading the bounds: aborts are written before their ends are published. */
  refresh(): Promise<void>
  has(transactionId: TransactionId): boolean
}

/** Reads the aborted transactions of a partition directory. */
export function createAbortedTransactions(directory: string): AbortedTransactions {
  const path = abortedFile(directory)
  const ids = new Set<TransactionId>()
  let sizeRead = -1
  return {
    has: (transactionId) => ids.has(transactionId),
    async refresh() {
      const handle = await open(path, 'r')
      try {
        const { size } = await handle.stat()
        if (size === sizeRead) return
        // A tail that is being written belongs to a transaction whose end is not published yet.
        await scanFrames(handle, path, 'aborted', ({ payload }) => ids.add(payload.readBigUInt64BE(0)))
        sizeRead = size
      } finally {
        await handle.close()
      }
    },
  }
}
