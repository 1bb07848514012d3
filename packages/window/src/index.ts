// Reading order: time, policy (words).
export { FRONTIER_MAX, FRONTIER_MIN } from './time/frontier-time.ts'
export type { Frontier } from './time/frontier-time.ts'
export { POLICY_SCHEMA } from './policy/stream-time-policy.ts'
export type { StreamTimePolicy } from './policy/stream-time-policy.ts'
export { windowErrors } from './errors.ts'
