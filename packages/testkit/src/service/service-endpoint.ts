import type { ServiceBackend } from './backend-choice.ts'

/** A real service that answers, wherever it comes from. */
export interface ServiceEndpoint {
  /** `kafka`, `redis` or `postgres`. */
  readonly service: string
  readonly backend: ServiceBackend
  /** A URL for Redis and Postgres; comma-separated `host:port` for Kafka. */
  readonly address: string
  /** Ends what was started for it; a service that was only named in the environment is left alone. */
  close(): Promise<void>
}
