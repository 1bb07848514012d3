import { createRedisDataReader, createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { RedisPlace } from '../../settings/place-settings.ts'
import type { SessionStore, StoreChoice } from './session-store.ts'

/** Redis: data and checkpoint in one script a step, or in two steps. */
export function openRedisStore(place: RedisPlace, choice: StoreChoice): SessionStore {
  const { namespace, dataPrefix } = choice
  const redis = createSafeRedis(place.url, { commandDeadlineMs: choice.ioDeadlineMs })
  const where = { redis, namespace, dataPrefix }
  const data = createRedisDataReader({ redis, dataPrefix })
  return {
    name: `Redis ${redis.address} (${place.form})`,
    store:
      place.form === 'atomic'
        ? createRedisProjectionStore({ ...where, form: 'atomic' })
        : createRedisProjectionStore({ ...where, form: 'two-step' }),
    data,
    close: () => data.close(),
  }
}
