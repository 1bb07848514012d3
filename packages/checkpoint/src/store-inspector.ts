import type { CancelSignal } from '@tidemark/core'

/**
 * PORT: what a store holds under one namespace beyond what a start reads. For operators; nothing a projection decides
 * depends on it, and nothing is changed by it.
 *
 * Every call settles within the store's own deadline for each of its round trips.
 */
export interface StoreInspector {
  /** The newest entries that one partition set aside. Cost: linear in that partition's entries; memory in `entriesMax`. */
  readQuarantine(request: QuarantineRequest): Promise<QuarantineListing>
  /**
   * Every key of the namespace by a pass over the whole store, a page at a time; a key may come twice.
   *
   * Cost: linear in all keys of the store, whoever wrote them; memory in one page.
   */
  scanKeys(signal?: CancelSignal): AsyncIterable<readonly string[]>
  close(): Promise<void>
}

/** Which entries to read. */
export interface QuarantineRequest {
  readonly topic: string
  readonly partition: number
  readonly entriesMax: number
}

/** The newest entries of a partition, by offset from the highest, undecoded. */
export interface QuarantineListing {
  readonly total: number
  readonly newest: readonly { readonly offset: string; readonly text: string }[]
}

/**
 * Keeps the newest entries of those it is shown, so that a listing of any length fits in memory.
 *
 * Order: by offset as a number, from the highest; what is no offset comes last.
 */
export function newestEntries(entriesMax: number): {
  add(offset: string, text: string): void
  newest(): readonly { readonly offset: string; readonly text: string }[]
} {
  let kept: { readonly offset: string; readonly text: string }[] = []
  const trim = (): void => {
    kept = kept.sort((a, b) => compareOffsets(b.offset, a.offset)).slice(0, entriesMax)
  }
  return {
    add(offset, text) {
      kept.push({ offset, text })
      // Sorting at every entry would cost the square of a long listing.
      if (kept.length >= 2 * entriesMax + 64) trim()
    },
    newest() {
      trim()
      return kept
    },
  }
}

/** Canonical decimal texts of equal length compare like the numbers they stand for. */
function compareOffsets(a: string, b: string): number {
  const [first, second] = [isDigits(a), isDigits(b)]
  if (first !== second) return first ? 1 : -1
  if (first && a.length !== b.length) return a.length - b.length
  return a < b ? -1 : a > b ? 1 : 0
}

function isDigits(text: string): boolean {
  return /^(?:0|[1-9][0-9]*)$/.test(text)
}
