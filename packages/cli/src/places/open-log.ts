import type { CommittedLog } from '@tidemark/log'
import type { LogPlace } from './place.ts'
import { loadClient } from './load-client.ts'

/** An open log, and how to call it in what is printed. */
export interface OpenLog {
  readonly log: CommittedLog
  readonly name: string
}

/**
 * Opens the log of a place for reading. Clients are loaded here and not before, so that help is quick.
 *
 * @throws {TidemarkError} TM_CLI_CLIENT_MISSING, and what the adapter says of its options.
 */
export async function openLog(place: LogPlace, deadlineMs: number): Promise<OpenLog> {
  if (place.kind === 'embedded') {
    const { createEmbeddedLog } = await loadClient('--embedded-log', () => import('@tidemark/embedded'))
    const { directory } = place
    return { log: createEmbeddedLog({ directory }), name: `embedded log in ${directory}` }
  }
  const { brokers, security } = place
  const connectTimeoutMs = Math.min(Math.max(deadlineMs, 100), 120_000)
  const options = { brokers, security, clientName: 'tidemark-command', connectTimeoutMs }
  const name = `kafka at ${brokers.join(',')}`
  if (place.client === 'pinned') {
    const { createPinnedKafkaLog } = await loadClient('--kafka-client pinned', () => import('@tidemark/kafka/pinned'))
    return { log: createPinnedKafkaLog(options), name }
  }
  const { createKafkaLog } = await loadClient('--kafka', () => import('@tidemark/kafka'))
  return { log: createKafkaLog(options), name }
}
