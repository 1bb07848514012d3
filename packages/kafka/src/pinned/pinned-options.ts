import { checkLimit } from '@tidemark/core'
import type { KafkaConnectionOptions } from '../connection-options.ts'
import type { FetchingParts } from './leader-fetching.ts'

/** Which cluster to read, as whom, and how much to fetch and to hold. */
export interface PinnedKafkaLogOptions extends KafkaConnectionOptions {
  readonly fetch?: PinnedFetchOptions
}

/** How much a reader fetches and holds, and how long it waits. */
export interface PinnedFetchOptions {
  /** Milliseconds a leader holds a fetch back while nothing is there. Default 500. */
  readonly waitMs?: number
  /** Bytes of one answer, over all partitions of one leader. Default 8 MiB; one larger batch still comes. */
  readonly bytesMax?: number
  /** Bytes of one partition in one answer. Default 1 MiB; one larger batch still comes. */
  readonly partitionBytesMax?: number
  /** Bytes fetched ahead and under way of one reader, as they came over the wire. Default 32 MiB. */
  readonly bufferedBytesMax?: number
  /** Milliseconds beyond its wait after which a fetch without an answer is given up. Default 30,000. */
  readonly requestMsMax?: number
  /** Milliseconds a partition may go unserved before the reader fails. Default 60,000. */
  readonly unavailableMsMax?: number
}

/**
 * The limits of a reader, checked.
 *
 * @throws {TidemarkError} TM_CORE_LIMIT_INVALID
 */
export function checkFetchOptions(given: PinnedFetchOptions): FetchingParts['limits'] {
  const limit = (name: keyof PinnedFetchOptions, fallback: number, min: number, max: number): number =>
    checkLimit(`fetch.${name}`, given[name] ?? fallback, { min, max })
  return {
    fetchWaitMs: limit('waitMs', 500, 1, 30_000),
    fetchBytesMax: limit('bytesMax', 8 * 2 ** 20, 65_536, 2 ** 30),
    partitionBytesMax: limit('partitionBytesMax', 2 ** 20, 1_024, 2 ** 30),
    bufferedBytesMax: limit('bufferedBytesMax', 32 * 2 ** 20, 131_072, 2 ** 32),
    requestMsMax: limit('requestMsMax', 30_000, 100, 600_000),
    unavailableMsMax: limit('unavailableMsMax', 60_000, 100, 3_600_000),
  }
}
