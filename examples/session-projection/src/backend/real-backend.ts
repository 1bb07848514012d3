import { createKafkaLog } from '@tidemark/kafka'
import type { CommittedLog } from '@tidemark/log'
import { createRedisDataReader, createRedisProjectionStore, createSafeRedis } from '@tidemark/redis/checkpoint'
import type { LogPlace, StorePlace } from '../settings/place-settings.ts'
import type { BackendChoice, SessionBackend } from './session-backend.ts'

type KafkaPlace = Extract<LogPlace, { kind: 'kafka' }>
type RedisPlace = Extract<StorePlace, { kind: 'redis' }>

/** Kafka and Redis. */
export function openRealBackend(choice: BackendChoice, kafka: KafkaPlace, place: RedisPlace): SessionBackend {
  const { namespace, dataPrefix } = choice
  const redis = createSafeRedis(place.url, { commandDeadlineMs: choice.ioDeadlineMs })
  const where = { redis, namespace, dataPrefix }
  const store =
    place.form === 'atomic'
      ? createRedisProjectionStore({ ...where, form: 'atomic' })
      : createRedisProjectionStore({ ...where, form: 'two-step' })
  const data = createRedisDataReader({ redis, dataPrefix })
  return {
    name: `Kafka ${kafka.brokers.join(',')} + Redis ${redis.address} (${place.form})`,
    log: openKafkaLog(kafka),
    store,
    data,
    close: () => data.close(),
  }
}

/** The committed log on Kafka. */
export function openKafkaLog(place: KafkaPlace): CommittedLog {
  return createKafkaLog({ brokers: place.brokers, security: place.security, clientName: 'session-projection' })
}
