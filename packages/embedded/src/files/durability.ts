import { embeddedErrors } from '../errors.ts'

/**
 * What a confirmed write survives. `fsync`: it is on disk. `server`: it is with the operating system, which outlives
 * this process but not a power cut.
 */
export type EmbeddedDurability = 'fsync' | 'server'

/** Refuses what is not a durability before anything is opened. */
export function requireDurability(durability: EmbeddedDurability): void {
  if (durability === 'fsync' || durability === 'server') return
  const reason = `"${String(durability)}" is neither "fsync" nor "server"`
  throw embeddedErrors.create('TM_EMBEDDED_OPTION_INVALID', { option: 'durability', reason })
}
