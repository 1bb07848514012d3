/** Everything that no output may repeat. Filled while settings are read, asked by whatever prints an error. */
export interface Secrets {
  add(secret: string | undefined): void
  /** The text with every secret and every password of a URL replaced. */
  redact(text: string): string
}

/** A password in a URL, up to the last `@` before the path: passwords that should have been encoded may hold one themselves. */
const urlCredentials = /\b([a-z][a-z0-9+.-]*:\/\/[^\s:/?#@]*):[^\s/?#]*@/gi

/** An empty collection of secrets. */
export function createSecrets(): Secrets {
  const known = new Set<string>()
  return {
    add(secret) {
      if (secret === undefined || secret === '') return
      known.add(secret)
      known.add(encodeURIComponent(secret))
    },
    redact(text) {
      // Longer ones first: one secret may contain another.
      const ordered = [...known].sort((a, b) => b.length - a.length)
      const clean = ordered.reduce((rest, secret) => rest.replaceAll(secret, '***'), text)
      return clean.replaceAll(urlCredentials, '$1:***@')
    },
  }
}
