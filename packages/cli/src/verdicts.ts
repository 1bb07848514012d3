/** How a command ended. */
export type Verdict =
  | 'would-start'
  | 'sound'
  | 'equal'
  | 'rebuilt'
  | 'failed'
  | 'usage'
  | 'refused'
  | 'damaged'
  | 'unavailable'
  | 'different'
  | 'unknown-namespace'
  | 'dirty'
  | 'unverifiable'
  | 'interrupted'

/** One way in which a command may end. */
export interface VerdictRow {
  readonly exitCode: number
  readonly meaning: string
}

/** Every verdict of every command, and the exit code it ends with. Both are stable; the guide shows this table. */
export const verdicts: Readonly<Record<Verdict, VerdictRow>> = {
  'would-start': {
    exitCode: 0,
    meaning:
      'explain, rebuild without --execute: the start would go through, unless it finds what is listed as left open',
  },
  sound: { exitCode: 0, meaning: 'inspect: everything stored can be read and agrees with itself' },
  equal: { exitCode: 0, meaning: 'verify: what is served is what the log says' },
  rebuilt: { exitCode: 0, meaning: 'rebuild --execute: the new namespace is caught up' },
  failed: { exitCode: 1, meaning: 'a fault of the program or of the project module' },
  usage: { exitCode: 2, meaning: 'an option, an address, a file or a module makes no sense; nothing was changed' },
  refused: { exitCode: 3, meaning: 'the start or the rebuild is refused; every reason is listed' },
  damaged: { exitCode: 4, meaning: 'what is stored is damaged or contradicts itself, or an embedded log is damaged' },
  unavailable: {
    exitCode: 5,
    meaning:
      'a service gave no usable answer: address, credentials, permission, deadline; nothing is proven either way',
  },
  different: { exitCode: 6, meaning: 'verify: what is served is not what the log says' },
  'unknown-namespace': { exitCode: 7, meaning: 'nothing is stored under the namespace' },
  dirty: { exitCode: 8, meaning: 'rebuild --execute: the projection went dirty on the way' },
  unverifiable: {
    exitCode: 9,
    meaning: 'verify: it cannot be proven, for want of history, identity or a larger limit',
  },
  interrupted: { exitCode: 130, meaning: 'ended by SIGINT or SIGTERM before a verdict' },
}
