/** Prints the demo for a person: numbered steps, what happened beneath. */
export interface Narrator {
  step(text: string): void
  say(text: string): void
}

/** A narrator that numbers its steps and says how long the demo has been running. */
export function createNarrator(print: (line: string) => void): Narrator {
  const startedAt = performance.now()
  let count = 0
  return {
    step(text) {
      count += 1
      print(`\n${count}. ${text}   [${((performance.now() - startedAt) / 1_000).toFixed(1)} s]`)
    },
    say: (text) => text.split('\n').forEach((line) => print(`   ${line}`)),
  }
}
