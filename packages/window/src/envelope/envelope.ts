/**
 * One record of the business stream as the engine takes it in.
 *
 * Units: times in whole epoch milliseconds.
 * Promises: the engine keeps the last envelope of a partition until the next; a caller neither changes nor reuses one.
 */
export interface Envelope<P> {
  /** The event's own name: two records with one id are one event. */
  readonly eventId: string
  /** When it happened. */
  readonly eventTime: number
  /** When the broker appended it; never a reader's clock. */
  readonly ingestTime: number
  readonly source: string
  readonly partition: number
  readonly partitionGeneration: number
  readonly offset: number
  readonly schemaGeneration: number
  readonly key: string
  readonly payload: P
}
