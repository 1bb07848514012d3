import { decodeOffset } from '@tidemark/core'
import type { ProjectionWrite } from '@tidemark/checkpoint'
import { postgresErrors } from '../errors.ts'

/** What stands under a key: a sorted set, a set, a hash or a plain text. */
export type DataKind = 'z' | 's' | 'h' | 't'

/** What a word of the vocabulary is called in messages. */
export const kindNames: Readonly<Record<string, string>> = { z: 'sorted set', s: 'set', h: 'hash', t: 'string' }

/** A score and how it meets the one that stands there. */
export interface ScoreWrite {
  readonly key: string
  readonly member: string
  readonly score: number
}

/** One entry by key, kind and name. */
export interface EntryName {
  readonly key: string
  readonly kind: DataKind
  readonly name: string
}

/** A hash field or, with an empty name, a plain text. */
export interface ValueWrite extends EntryName {
  readonly value: string
}

/**
 * Writes folded to what they come to: every row at most once, so that they fit into one statement in any order.
 *
 * `removed` and the sorted and set members of `cleared` keys go before anything is put.
 */
export interface WriteRound {
  /** Keys that must be absent or hold this kind, as the first write of the round found them. */
  readonly checks: readonly { readonly key: string; readonly kind: DataKind }[]
  /** Keys whose former content goes, whatever its kind. */
  readonly cleared: readonly string[]
  readonly removed: readonly EntryName[]
  readonly greater: readonly ScoreWrite[]
  readonly less: readonly ScoreWrite[]
  readonly exact: readonly ScoreWrite[]
  readonly members: readonly EntryName[]
  readonly values: readonly ValueWrite[]
  readonly numbers: readonly { readonly key: string; readonly value: string }[]
}

/** What one entry comes to. A number is a lower bound on a text that is not known. */
type Entry =
  | { readonly kind: 'removed' }
  | { readonly kind: 'score'; readonly mode: 'GT' | 'LT' | 'ANY'; readonly score: number }
  | { readonly kind: 'member' }
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'number'; readonly value: bigint }

interface KeyState {
  /** The kind that the first write of the round needs, if it needs one. */
  check: DataKind | undefined
  cleared: boolean
  kind: DataKind | undefined
  readonly entries: Map<string, Entry>
}

/**
 * The rounds a run of writes comes to: nearly always one.
 *
 * A round ends where a write depends on what the rounds before it left: another kind on a key that may have become empty,
 * or a greater bound under a lesser one. Cost: linear in writes.
 * @throws {TidemarkError} TM_POSTGRES_VALUE_NOT_A_NUMBER when setIfGreater follows a text that is none.
 */
export function foldWrites(writes: readonly ProjectionWrite[]): readonly WriteRound[] {
  const rounds: Map<string, KeyState>[] = []
  let states = new Map<string, KeyState>()
  for (const write of writes) {
    if (applyTo(states, write)) continue
    rounds.push(states)
    states = new Map()
    applyTo(states, write)
  }
  if (states.size > 0) rounds.push(states)
  return rounds.map(toRound)
}

/** Folds a write in, or says that it needs a round of its own. */
function applyTo(states: Map<string, KeyState>, write: ProjectionWrite): boolean {
  const state = states.get(write.key) ?? { check: undefined, cleared: false, kind: undefined, entries: new Map() }
  if (!applyToState(state, write)) return false
  states.set(write.key, state)
  return true
}

function applyToState(state: KeyState, write: ProjectionWrite): boolean {
  const { entries } = state
  if (write.op === 'del' || write.op === 'set') {
    state.cleared = true
    state.kind = write.op === 'set' ? 't' : undefined
    entries.clear()
    if (write.op === 'set') entries.set('', { kind: 'value', value: write.value })
    return true
  }
  if (!takeKind(state, kindOf(write))) return false
  switch (write.op) {
    case 'zadd':
      return foldScore(state, write)
    case 'sadd':
      entries.set(write.member, { kind: 'member' })
      return true
    case 'hset':
      entries.set(write.field, { kind: 'value', value: write.value })
      return true
    case 'setIfGreater':
      foldNumber(state, write)
      return true
    case 'zrem':
    case 'srem':
      entries.set(write.member, { kind: 'removed' })
      return true
    case 'hdel':
      entries.set(write.field, { kind: 'removed' })
      return true
  }
}

/** Whether the key can take a write of that kind in this round. */
function takeKind(state: KeyState, kind: DataKind): boolean {
  if (state.kind === undefined) {
    state.kind = kind
    // What was cleared is known to be absent and needs no look.
    if (!state.cleared) state.check ??= kind
    return true
  }
  if (state.kind === kind) return true
  // A cleared key is empty for certain when nothing was put since; any other may or may not have become empty.
  if (!state.cleared || [...state.entries.values()].some((entry) => entry.kind !== 'removed')) return false
  state.kind = kind
  state.entries.clear()
  return true
}

function foldScore(state: KeyState, write: Extract<ProjectionWrite, { op: 'zadd' }>): boolean {
  const { mode, score, member } = write
  const held = state.entries.get(member)
  const put = (folded: Extract<Entry, { kind: 'score' }>): true => {
    state.entries.set(member, folded)
    return true
  }
  // Known to be absent: the first score stands whatever its mode.
  const absent = held?.kind === 'removed' || (held === undefined && state.cleared)
  if (mode === 'ANY' || absent) return put({ kind: 'score', mode: 'ANY', score })
  if (held?.kind !== 'score') return put({ kind: 'score', mode, score })
  const better = mode === 'GT' ? Math.max(held.score, score) : Math.min(held.score, score)
  if (held.mode === mode || held.mode === 'ANY') return put({ kind: 'score', mode: held.mode, score: better })
  // At least a, then at most b: for b <= a that is b, whatever stood there. Else both bounds stay, for two rounds.
  if (better === score) return put({ kind: 'score', mode: 'ANY', score })
  return false
}

function foldNumber(state: KeyState, write: Extract<ProjectionWrite, { op: 'setIfGreater' }>): void {
  const { entries } = state
  const { key, value } = write
  const held = entries.get('')
  if (held?.kind === 'value') {
    const number = decodeOffset(held.value)
    if (number === undefined) {
      const details = { key: key.slice(0, 128), found: held.value.slice(0, 32) }
      throw postgresErrors.create('TM_POSTGRES_VALUE_NOT_A_NUMBER', details)
    }
    if (value > number) entries.set('', { kind: 'value', value: value.toString(10) })
  } else if (held === undefined && state.cleared) {
    entries.set('', { kind: 'value', value: value.toString(10) })
  } else if (held?.kind !== 'number' || value > held.value) {
    entries.set('', { kind: 'number', value })
  }
}

function kindOf(write: Exclude<ProjectionWrite, { op: 'set' | 'del' }>): DataKind {
  switch (write.op) {
    case 'zadd':
    case 'zrem':
      return 'z'
    case 'sadd':
    case 'srem':
      return 's'
    case 'hset':
    case 'hdel':
      return 'h'
    case 'setIfGreater':
      return 't'
  }
}

function toRound(states: Map<string, KeyState>): WriteRound {
  const round = emptyRound()
  // One order for all writers, so that two that write the same rows wait for each other instead of locking crosswise.
  for (const [key, state] of [...states].sort(byName)) {
    if (state.check !== undefined) round.checks.push({ key, kind: state.check })
    if (state.cleared) round.cleared.push(key)
    if (state.kind === undefined) continue
    for (const [name, entry] of [...state.entries].sort(byName))
      addEntry(round, state, { key, kind: state.kind, name }, entry)
  }
  return round
}

type Growing<T> = { -readonly [K in keyof T]: T[K] extends readonly (infer I)[] ? I[] : never }

function emptyRound(): Growing<WriteRound> {
  return {
    checks: [],
    cleared: [],
    removed: [],
    greater: [],
    less: [],
    exact: [],
    members: [],
    values: [],
    numbers: [],
  }
}

function addEntry(round: Growing<WriteRound>, state: KeyState, at: EntryName, entry: Entry): void {
  switch (entry.kind) {
    case 'removed':
      if (!state.cleared) round.removed.push(at)
      return
    case 'score': {
      const list = entry.mode === 'GT' ? round.greater : entry.mode === 'LT' ? round.less : round.exact
      list.push({ key: at.key, member: at.name, score: entry.score })
      return
    }
    case 'member':
      round.members.push(at)
      return
    case 'value':
      round.values.push({ ...at, value: entry.value })
      return
    case 'number':
      round.numbers.push({ key: at.key, value: entry.value.toString(10) })
  }
}

function byName(a: readonly [string, unknown], b: readonly [string, unknown]): number {
  return a[0] < b[0] ? -1 : a[0] > b[0] ? 1 : 0
}
