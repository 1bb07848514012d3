import { existsSync } from 'node:fs'
import { createFramedFile, openFramedFile } from '../files/framed-file.ts'
import type { EmbeddedDurability } from '../files/durability.ts'
import type { TransactionId } from '../log/batch-codec.ts'
import { decisionsFile } from '../log/log-layout.ts'
import { encodeTransactionId } from './partition-log.ts'

/**
 * Which transactions over several partitions were decided to commit, written before their markers.
 *
 * It is what makes a commit one event: a crash between two markers is finished at the next opening, not torn in half.
 */
export interface DecisionLog {
  /** The decisions found at opening; their markers may be missing. */
  readonly committed: ReadonlySet<TransactionId>
  commit(transactionId: TransactionId): Promise<void>
  /** Forgets decisions whose markers are all written, once there are many. */
  forgetIfLarge(): Promise<void>
  forget(): Promise<void>
  close(): Promise<void>
}

const forgetAtBytes = 1024 * 1024

/** Opens the decisions of a log directory, creating their file where there is none. */
export async function openDecisionLog(directory: string, durability: EmbeddedDurability): Promise<DecisionLog> {
  const path = decisionsFile(directory)
  if (!existsSync(path)) await createFramedFile(path, 'decisions', durability)
  const committed = new Set<TransactionId>()
  let file = await openFramedFile(path, 'decisions', durability, ({ payload }) => {
    committed.add(payload.readBigUInt64BE(0))
  })
  const forget = async (): Promise<void> => {
    await createFramedFile(path, 'decisions', durability)
    await file.close()
    file = await openFramedFile(path, 'decisions', durability, () => undefined)
  }
  return {
    committed,
    commit: (transactionId) => file.append(encodeTransactionId(transactionId)),
    forget,
    async forgetIfLarge() {
      if (file.size >= forgetAtBytes) await forget()
    },
    close: () => file.close(),
  }
}
