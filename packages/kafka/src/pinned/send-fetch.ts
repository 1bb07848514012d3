import type { Reader } from '@platformatic/kafka'
import type { Send } from '../inspection/broker-connections.ts'
import { decodeFetchAnswer } from './fetch-answer.ts'
import type { FetchAnswer } from './fetch-answer.ts'
import { encodeFetchRequest, FETCH_KEY, FETCH_VERSIONS } from './fetch-request.ts'
import type { FetchRequest } from './fetch-request.ts'

/** The sentence a broker that fetches by name only is refused with. */
export const NO_FETCH_BY_ID = 'the broker cannot fetch by topic id (Fetch version 13, Apache Kafka 3.1 or newer)'

/**
 * Sends a fetch over the client's connection, with a body and a parser of our own.
 *
 * The client's parser turns every record into objects with numbers of its own, reads damaged batches as far as they go,
 * and passes over tagged fields by a wrong length: the field that tells of a truncation would shift all that follows.
 */
export function sendFetch(request: FetchRequest): Send<FetchAnswer> {
  return ({ client, connection, newest }, done) => {
    const version = newest(FETCH_KEY, FETCH_VERSIONS)
    if (version === undefined) return done(Object.assign(new Error(NO_FETCH_BY_ID), { code: 'UNSUPPORTED_VERSION' }))
    connection.send<FetchAnswer>(
      FETCH_KEY,
      version,
      () => client.Writer.create().append(encodeFetchRequest(version, request)),
      (_correlationId, _apiKey, _apiVersion, reader: Reader) => decodeFetchAnswer(reader.buffer.slice(reader.position)),
      true,
      true,
      done,
    )
  }
}
