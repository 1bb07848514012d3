/** What every session key starts with. A checkpoint namespace may not claim the same keys. */
export const SESSION_KEY_PREFIX = 'convs:'

/** The key of one user's conversations. The user comes last, so that any text in it leaves two keys apart. */
export function sessionKey(user: string): string {
  return `${SESSION_KEY_PREFIX}${user}`
}
