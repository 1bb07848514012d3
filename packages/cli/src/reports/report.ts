import type { JsonValue } from '@tidemark/core'
import type { Verdict } from '../verdicts.ts'

/** The version of the JSON that every command prints. Fields may be added to it; none changes its meaning or goes away. */
export const REPORT_VERSION = 1

/** The commands. */
export type CommandName = 'explain' | 'inspect' | 'verify' | 'rebuild'

/** How every report begins. Offsets and counts of offsets are decimal strings throughout. */
export interface ReportHead<Command extends CommandName = CommandName> {
  readonly version: typeof REPORT_VERSION
  readonly command: Command
  readonly verdict: Verdict
  readonly exitCode: number
}

/** One reason, with its partition where it concerns one. */
export interface ReasonLine {
  readonly code: string
  readonly partition?: number
  readonly message: string
  readonly values: Readonly<Record<string, JsonValue>>
  readonly remedy: string
  /** The page that says what to look at and what is safe. */
  readonly runbook: string
}

/** What a store says of itself. */
export interface StoreLine {
  readonly name: string
  readonly durability: string
  readonly primary: boolean
  readonly loaded: boolean
  readonly evictionPolicy: string
  readonly database: string
}

/** Which log something was read from. */
export interface ShownIdentity {
  readonly clusterId: string
  readonly topic: string
  readonly topicId: string
  readonly partitionCount: number
}

/** A command that ended by an error instead of a verdict of its own. */
export interface ErrorReport extends ReportHead {
  readonly error: {
    /** Absent for a fault that has none. */
    readonly code?: string
    readonly message: string
    readonly details: Readonly<Record<string, JsonValue>>
    readonly remedy?: string
    readonly docs?: string
    readonly retriable: boolean
  }
}
