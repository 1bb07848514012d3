import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './paths.mjs'

/** The gates and cases the project owes, as data: { milestone, gates: [{ id, milestone, kind?, title? }] }. */
export function loadGates() {
  return JSON.parse(readFileSync(join(root, 'scripts', 'gates.json'), 'utf8'))
}
