import { createCancelSource } from '@tidemark/core'
import type { CancelSignal } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import { createEmbeddedWorld, topic } from './embedded-world.ts'
import type { EmbeddedWorld } from './embedded-world.ts'
import { tidemark, tidemarkJson } from './recorded-host.ts'

/** A signal that is given the moment it has been looked at so many times. */
function interruptedAtLook(n: number): { readonly signal: CancelSignal; looks(): number } {
  const source = createCancelSource()
  let looks = 0
  const signal: CancelSignal = {
    get aborted() {
      looks += 1
      if (looks >= n) source.cancel()
      return source.signal.aborted
    },
    addEventListener: (...args) => source.signal.addEventListener(...args),
    removeEventListener: (...args) => source.signal.removeEventListener(...args),
  }
  return { signal, looks: () => looks }
}

const commands: readonly (readonly [string, (world: EmbeddedWorld) => readonly string[]])[] = [
  ['explain', ({ places, names }) => ['explain', ...places, ...names, '--ready-target', 'hw']],
  ['explain --deep', ({ places, names }) => ['explain', ...places, ...names, '--ready-target', 'hw', '--deep']],
  ['inspect', ({ places }) => ['inspect', ...places.slice(0, 2), '-n', 'sessions']],
]

describe('a look that is interrupted', () => {
  it.each(commands)('[CLI-6] %s has no verdict, at whatever moment the signal came', async (_name, argv) => {
    const world = await createEmbeddedWorld()
    const bad = (partition: number) => ({ partition, key: null, value: new TextEncoder().encode('?') })
    await world.produce(async (producer) => void (await producer.append(topic, [bad(0), bad(1)])))
    await world.project()
    // More keys than the store shows on one page, so that a pass is under way when it is cut short.
    await world.damage(async (storage) => {
      const writes = Array.from(
        { length: 3_000 },
        (_, n) => ({ op: 'set', key: `sessions:x:${n}`, value: '' }) as const,
      )
      await storage.step(() => ({ outcome: undefined, writes }))
    })
    const whole = interruptedAtLook(Number.POSITIVE_INFINITY)
    expect((await tidemark(argv(world), { signal: whole.signal })).exitCode).toBe(0)
    expect(whole.looks()).toBeGreaterThan(1)
    for (let n = 1; n <= whole.looks(); n += 1) {
      const { signal } = interruptedAtLook(n)
      expect(await tidemarkJson(argv(world), { signal })).toMatchObject({ verdict: 'interrupted', exitCode: 130 })
    }
  })
})
