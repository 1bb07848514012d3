/** Something in a text that belongs to a machine or a workplace, not to the project. */
export interface ForeignTrace {
  readonly line: number
  readonly what: string
}

// Written in parts, so that this file does not find itself.
const traces: readonly { readonly what: string; readonly pattern: RegExp }[] = [
  {
    what: 'a path of a machine',
    pattern: new RegExp(
      String.raw`(?<![\w.@-])/(?:ho` +
        String.raw`me|Us` +
        String.raw`ers|wo` +
        String.raw`rk|ro` +
        String.raw`ot)/(?!me\b)\w`,
    ),
  },
  {
    what: 'a registry host',
    pattern: new RegExp(
      String.raw`regis` + String.raw`try\.(?:npmjs|yarnpkg)|repo1?\.mav` + String.raw`en\.org|proxy\.gol` + `ang`,
    ),
  },
  {
    what: 'a word of a workplace',
    pattern: new RegExp(
      String.raw`\b(?:sub` +
        String.raw`agents?|chat` +
        String.raw`gpt|clau` +
        String.raw`de|lang` +
        String.raw`uage model|ll` +
        String.raw`ms?|the pro` +
        String.raw`mpt|sys` +
        String.raw`tem prompt|(?:this|the) iss` +
        String.raw`ue\b|shar` +
        String.raw`ed/(?:facts|cases|contracts|style|design))`,
      'i',
    ),
  },
  {
    what: 'history in place of a reason',
    pattern: new RegExp(
      String.raw`\b(?:previ` +
        String.raw`ously|no longer (?:uses|needed)|used to b` +
        String.raw`e|was chan` +
        String.raw`ged to|has been refac` +
        String.raw`tored|TO` +
        String.raw`DO|FIX` +
        String.raw`ME)\b`,
    ),
  },
]

/** Every trace in a text, one per line and kind. */
export function foreignTraces(text: string): readonly ForeignTrace[] {
  return text.split('\n').flatMap((line, index) =>
    traces.flatMap(({ what, pattern }) => {
      const match = pattern.exec(line)
      return match === null ? [] : [{ line: index + 1, what: `${what}: ${match[0]}` }]
    }),
  )
}
