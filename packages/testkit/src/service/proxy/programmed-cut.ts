import { bytesBeforeStrike, strikesCommand } from './cut-rules.ts'
import type { ByteRule, CommandRule, CutRule, SeenCommand } from './cut-rules.ts'

/** A programmed fault that a test can wait for. */
export interface ProgrammedCut {
  /** Resolves when it struck for the first time. */
  readonly struck: Promise<void>
  strikes(): number
  /** Takes it back. */
  remove(): void
}

/** The faults of one proxy. */
export interface CutProgram {
  add(rule: CutRule): ProgrammedCut
  clear(): void
  /** The first rule that strikes the command; it counts as struck. */
  takeForCommand(seen: SeenCommand): CommandRule | undefined
  /** The byte rule that strikes within the next `length` bytes, and how many may still pass; it counts as struck. */
  takeForBytes(
    flow: { readonly connection: number; readonly direction: ByteRule['direction']; readonly passed: number },
    length: number,
  ): { readonly rule: ByteRule; readonly pass: number } | undefined
}

interface Entry {
  readonly rule: CutRule
  strikes: number
  readonly strike: () => void
}

/** An empty program: everything passes. */
export function createCutProgram(): CutProgram {
  let entries: Entry[] = []
  const strike = (entry: Entry): void => {
    entry.strikes += 1
    entry.strike()
    if (entry.rule.repeat !== true) entries = entries.filter((one) => one !== entry)
  }
  return {
    add(rule) {
      let resolve = (): void => {}
      const struck = new Promise<void>((done) => {
        resolve = done
      })
      const entry: Entry = { rule, strikes: 0, strike: resolve }
      entries.push(entry)
      return {
        struck,
        strikes: () => entry.strikes,
        remove() {
          entries = entries.filter((one) => one !== entry)
        },
      }
    },
    clear() {
      entries = []
    },
    takeForCommand(seen) {
      for (const entry of entries) {
        if (!strikesCommand(entry.rule, seen)) continue
        strike(entry)
        return entry.rule
      }
      return undefined
    },
    takeForBytes(flow, length) {
      for (const entry of entries) {
        const pass = bytesBeforeStrike(entry.rule, flow)
        if (pass === undefined || pass >= length) continue
        strike(entry)
        return { rule: entry.rule as ByteRule, pass }
      }
      return undefined
    },
  }
}
