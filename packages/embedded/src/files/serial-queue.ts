/** Runs jobs one after another, in the order asked. */
export interface SerialQueue {
  run<T>(job: () => Promise<T>): Promise<T>
  /** Resolves when every job asked for so far has ended. */
  idle(): Promise<void>
}

export function createSerialQueue(): SerialQueue {
  let last: Promise<unknown> = Promise.resolve()
  return {
    run(job) {
      const result = last.then(job)
      // The next job runs whether this one failed or not; its caller has the failure.
      last = result.catch(() => undefined)
      return result
    },
    async idle() {
      await last
    },
  }
}
