/** PORT: the few operations on files that a lock is made of. Synchronous, because a lock is taken once and nothing else waits. */
export interface LockFiles {
  /** Makes a file that did not exist. */
  create(path: string, text: string): void
  /** Gives a file a second name, at once and with its content; `false` where the name is taken. */
  link(from: string, to: string): boolean
  /** The text of a file, or `undefined` where there is none. */
  read(path: string): string | undefined
  /** Removes a file, if there is one. */
  remove(path: string): void
}
