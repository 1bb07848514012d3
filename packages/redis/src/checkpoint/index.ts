// Reading order: safe-redis (connections) -> redis-projection-store (the store) -> redis-data-reader (reading back).
export { createSafeRedis } from '../connection/safe-redis.ts'
export type { RedisClientClass, SafeRedisOptions, SafeRedisSource } from '../connection/safe-redis.ts'
export { createRedisProjectionStore, REDIS_STEP_LIMITS } from './redis-projection-store.ts'
export type { RedisProjectionStoreOptions, RedisStepForm } from './redis-projection-store.ts'
export { createRedisDataReader } from './redis-data-reader.ts'
export type { RedisDataReader, RedisDataReaderOptions } from './redis-data-reader.ts'
export { redisErrors } from '../errors.ts'
