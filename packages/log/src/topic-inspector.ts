import type { CancelSignal } from '@tidemark/core'
import type { IdentitySurvey } from './identity-survey.ts'
import type { BoundsReading } from './log-bounds.ts'

/**
 * PORT: asks brokers what a topic is and holds, by the standard protocol only.
 *
 * Every call settles within its deadline. Conditions of the cluster come back as values (`no-answer`, `unreadable`);
 * a rejection means a fault of the inspector itself.
 */
export interface TopicInspector {
  /** Asks every broker that any answer lists, until no new one turns up. */
  surveyIdentity(topic: string, options: InspectOptions): Promise<IdentitySurvey>
  /** Reads earliest, latest committed and latest uncommitted offsets of every partition, isolation said explicitly. */
  readBounds(topic: string, partitionCount: number, options: InspectOptions): Promise<BoundsReading>
  /** Reads the topic's retention and cleanup settings. */
  readSettings(topic: string, options: InspectOptions): Promise<TopicSettingsReading>
}

/** The limits of one inspection. */
export interface InspectOptions {
  readonly deadlineMs: number
  readonly signal?: CancelSignal
}

/** What a topic keeps. */
export interface TopicSettings {
  /** Milliseconds; -1 keeps for ever. */
  readonly retentionMs: bigint
  /** True when `cleanup.policy` contains `compact`: then a low of 0 does not mean full history. */
  readonly compacted: boolean
  /** The policy as the broker spells it. */
  readonly cleanupPolicy: string
}

/** A topic's settings, or why they could not be read. */
export type TopicSettingsReading =
  | { readonly kind: 'settings'; readonly settings: TopicSettings }
  | { readonly kind: 'unreadable'; readonly message: string }
