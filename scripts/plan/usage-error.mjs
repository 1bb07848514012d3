/** A person wrote something the project does not know; shown without a stack trace. */
export class UsageError extends Error {
  constructor(message) {
    super(message)
    this.name = 'UsageError'
  }
}
