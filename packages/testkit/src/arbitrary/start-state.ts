import type { PlanInput } from '@tidemark/checkpoint'
import fc from 'fast-check'
import {
  boundsAnswer,
  DRAWN_PARTITIONS_MAX,
  drawnTopic,
  logIdentity,
  mostly,
  settingsAnswer,
  soundBounds,
  surveyOutcome,
} from './drawn-log.ts'
import { drawnNamespace, drawnStore, placeStored } from './drawn-store.ts'

/**
 * Everything a start is decided from, mostly sound with a detail or two wrong: damaged hashes, foreign identities,
 * impossible or missing bounds, lost checkpoints, strays, witnesses that hold or do not.
 *
 * Drawn flat and put together afterwards: choosing one part after another would be many times slower.
 */
export const startState: fc.Arbitrary<PlanInput> = fc
  .record({
    identity: logIdentity,
    bounds: fc.array(soundBounds, { minLength: DRAWN_PARTITIONS_MAX, maxLength: DRAWN_PARTITIONS_MAX }),
    answer: boundsAnswer,
    store: drawnStore,
    settings: settingsAnswer,
    survey: surveyOutcome,
    readyTarget: fc.constantFrom('hw' as const, 'lso' as const),
    writeModel: mostly<PlanInput['writeModel']>(fc.constant('idempotent'), 3, fc.constant('transactional')),
    dataKeysCarryNoExpiry: fc.boolean(),
    latestRecordPerKeySuffices: fc.boolean(),
  })
  .map((drawn): PlanInput => {
    const held = drawn.bounds
      .slice(0, drawn.identity.partitionCount)
      .map((bounds, partition) => ({ ...bounds, partition }))
    const { dataKeysCarryNoExpiry, latestRecordPerKeySuffices } = drawn
    return {
      namespace: drawnNamespace,
      topic: drawnTopic,
      readyTarget: drawn.readyTarget,
      writeModel: drawn.writeModel,
      declarations: { dataKeysCarryNoExpiry, latestRecordPerKeySuffices },
      ...placeStored(drawn.store, drawn.identity, held),
      identity: drawn.survey(drawn.identity),
      bounds: drawn.answer(held),
      settings: drawn.settings,
    }
  })
