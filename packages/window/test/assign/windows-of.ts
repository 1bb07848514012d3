import type { AlignedAssigner } from '../../src/assign/assigner.ts'

/** Every window of an instant, the first one first, as the engine walks them. */
export function windowsOf(assigner: AlignedAssigner, timeMs: number): readonly (readonly [number, number])[] {
  const found: (readonly [number, number])[] = []
  for (
    let start = assigner.lastStartOf(timeMs);
    assigner.endOf(start) > timeMs;
    start = assigner.previousStartOf(start)
  ) {
    found.unshift([start, assigner.endOf(start)])
  }
  return found
}
