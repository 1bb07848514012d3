import { storeAdvanceCases } from './store-advance-cases.ts'
import { storeApartCases } from './store-apart-cases.ts'
import { storeFailureCases } from './store-failure-cases.ts'
import type { StoreCase } from './store-fixture.ts'
import { storeReadingCases } from './store-reading-cases.ts'
import { storeStartingCases } from './store-starting-cases.ts'
import { storeVocabularyCases } from './store-vocabulary-cases.ts'

/** Every law of the ProjectionStore port. An adapter that passes them all may carry a projection. */
export const projectionStoreCases: readonly StoreCase[] = [
  ...storeReadingCases,
  ...storeStartingCases,
  ...storeAdvanceCases,
  ...storeFailureCases,
  ...storeApartCases,
  ...storeVocabularyCases,
]
