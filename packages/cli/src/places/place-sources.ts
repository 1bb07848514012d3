import type { Secrets } from './secrets.ts'

/** What was said about places: options of the command line, by their names. */
export interface PlaceOptions {
  readonly kafka?: string
  readonly kafkaClient?: string
  readonly embeddedLog?: string
  readonly redis?: string
  readonly redisCluster?: string
  readonly redisSentinel?: string
  readonly redisData?: string
  readonly redisCheckpoints?: string
  readonly postgres?: string
  readonly pglite?: string
  readonly embedded?: string
  readonly schema?: string
  readonly dataSchema?: string
}

/** What places are read from besides the options. */
export interface PlaceSources {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly secrets: Secrets
}
