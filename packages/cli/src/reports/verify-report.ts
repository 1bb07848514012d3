import type { ProjectedDifference, ProjectedValue, VerifyReport as Verified } from '@tidemark/checkpoint'
import { verdicts } from '../verdicts.ts'
import type { Verdict } from '../verdicts.ts'
import { printable } from '../render/printable.ts'
import type { BoundedList } from './bounded-list.ts'
import { boundedMap } from './bounded-list.ts'
import { REPORT_VERSION } from './report.ts'
import type { ReportHead } from './report.ts'

/** What `verify` prints. */
export interface VerifyReport extends ReportHead<'verify'> {
  readonly namespace: string
  readonly topic: string
  readonly store: string
  readonly log: string
  /** Records below the checkpoints, all of them read from offset 0. */
  readonly recordsRead: number
  /** Records that the function called undecodable; they write nothing. */
  readonly undecodable: number
  readonly keysCompared: number
  readonly differences: BoundedList<KeyDifference>
}

/** How one key differs. */
export interface KeyDifference {
  readonly key: string
  /** What is right: the recomputation, or the host's own reader. */
  readonly against: ProjectedDifference['against']
  readonly expected: ProjectedValue['kind']
  readonly found: ProjectedValue['kind']
  /** Single texts, members or fields with another value, one served that is not due, one due that is not served. */
  readonly parts: BoundedList<PartDifference>
}

/** One member, field or text. An absent side is not there. */
export interface PartDifference {
  readonly part: string
  readonly expected?: string
  readonly found?: string
}

/** How many parts of one key are listed. */
const partsListedMax = 10

/** The report of a verification. */
export function verifyReport(
  of: { readonly namespace: string; readonly topic: string; readonly store: string; readonly log: string },
  verified: Verified,
): VerifyReport {
  const verdict: Verdict = verified.kind
  const { recordsRead, undecodable, keysCompared, differenceCount, differences } = verified
  return {
    version: REPORT_VERSION,
    command: 'verify',
    verdict,
    exitCode: verdicts[verdict].exitCode,
    ...of,
    recordsRead,
    undecodable,
    keysCompared,
    differences: { total: differenceCount, items: differences.map(keyDifference) },
  }
}

/** How two values of one key differ, part by part. */
export function keyDifference({ key, against, expected, found }: ProjectedDifference): KeyDifference {
  const [due, served] = [partsOf(expected), partsOf(found)]
  const names = new Set([...due.keys(), ...served.keys()])
  const differing = [...names].filter((name) => due.get(name) !== served.get(name))
  const parts = boundedMap(differing, partsListedMax, (name) => ({
    part: printable(name),
    ...side('expected', due.get(name)),
    ...side('found', served.get(name)),
  }))
  return { key: printable(key), against, expected: expected.kind, found: found.kind, parts }
}

function side(name: 'expected' | 'found', text: string | undefined): Partial<Record<'expected' | 'found', string>> {
  return text === undefined ? {} : { [name]: printable(text) }
}

/** A value as named parts with a text each. */
function partsOf(value: ProjectedValue): ReadonlyMap<string, string> {
  switch (value.kind) {
    case 'absent':
      return new Map()
    case 'string':
      return new Map([['', value.value]])
    case 'hash':
      return value.fields
    case 'set':
      return new Map([...value.members].map((member) => [member, 'member']))
    case 'sorted-set':
      return new Map([...value.scores].map(([member, score]) => [member, String(score)]))
  }
}
