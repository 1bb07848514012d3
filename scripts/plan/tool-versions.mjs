/** The major version in what `java -version` prints, or `undefined`. */
export function javaMajorOf(text) {
  const match = /version "(\d+)(?:\.(\d+))?/.exec(text)
  if (match === null) return undefined
  return match[1] === '1' ? Number(match[2]) : Number(match[1])
}

/** Whether a Node version is new enough for the project. */
export function nodeIsSupported(version, minimum = [20, 19, 4]) {
  const parts = version.replace(/^v/, '').split('.').map(Number)
  for (let index = 0; index < minimum.length; index += 1) {
    if (parts[index] !== minimum[index]) return parts[index] > minimum[index]
  }
  return true
}
