/** Lets loops sleep until something changes or a time is up. A ring while nobody waits is not lost. */
export interface WakeSignal {
  ring(): void
  wait(timeoutMs: number): Promise<void>
}

/** A signal for one waiter at a time. */
export function newWakeSignal(): WakeSignal {
  let rung = false
  let wake: (() => void) | undefined
  return {
    ring() {
      if (wake === undefined) rung = true
      else wake()
    },
    wait(timeoutMs) {
      if (rung || timeoutMs <= 0) {
        rung = false
        return Promise.resolve()
      }
      return new Promise((resolve) => {
        const finish = (): void => {
          clearTimeout(timer)
          wake = undefined
          resolve()
        }
        const timer = setTimeout(finish, timeoutMs)
        wake = finish
      })
    },
  }
}
