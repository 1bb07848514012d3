// Slow, obvious models that judge the real code; they share nothing with it.
export { createProjectedModel } from './projected-model.ts'
export type { HeldValue, ProjectedModel } from './projected-model.ts'
export { startOracle } from './start-oracle.ts'
export type { OracleStart, OracleVerdict } from './start-oracle.ts'
