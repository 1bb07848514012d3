/**
 * The exclusive frontier F in epoch milliseconds: everything with an event time below it is claimed complete.
 *
 * Shape: a whole number, {@link FRONTIER_MIN} before anything is claimed, {@link FRONTIER_MAX} once every input ended. Flink's
 * watermark is F - 1, Beam's is F, Kafka Streams' stream time less grace is F.
 */
export type Frontier = number

/** Nothing is claimed. */
export const FRONTIER_MIN: Frontier = Number.NEGATIVE_INFINITY

/** Every input ended. */
export const FRONTIER_MAX: Frontier = Number.POSITIVE_INFINITY
