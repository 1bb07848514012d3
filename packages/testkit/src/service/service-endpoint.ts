import type { ServiceBackend } from './backend-choice.ts'

/** A real service that answers, wherever it comes from. */
export interface ServiceEndpoint {
  /** `kafka` or `redis`. */
  readonly service: string
  readonly backend: ServiceBackend
  /** A URL for Redis; comma-separated `host:port` for Kafka. */
  readonly address: string
  /** Ends what was started for it; a service that was only named in the environment is left alone. */
  close(): Promise<void>
}
