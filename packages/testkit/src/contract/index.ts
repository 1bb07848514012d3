// Reading order: contract-case (what a case is) -> projection-store-world, projection-store-cases -> committed-log-world,
// committed-log-cases.
export { caseTitle, contractCase, registerCases } from './contract-case.ts'
export type { CaseRunner, ContractCase, ContractWorld, RegisteredCases } from './contract-case.ts'
export type { ProjectionStoreWorld, StoreCapability, StoreDamage, StoreSides } from './projection-store-world.ts'
export type { StoreCase } from './store-fixture.ts'
export { projectionStoreCases } from './projection-store-cases.ts'
export type { CommittedLogWorld, LogCapability, WorldRecord, WorldTransaction } from './committed-log-world.ts'
export type { LogCase } from './log-fixture.ts'
export { committedLogCases } from './committed-log-cases.ts'
