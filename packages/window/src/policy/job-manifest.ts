import { canonicalJson, hashKey } from '@tidemark/core'
import type { NameAtVersion } from './stream-time-policy.ts'

/** What a job declares of itself: the versions of everything that turns a record into a value. */
export interface JobManifest {
  readonly aggregate: NameAtVersion
  readonly timestampExtractor: NameAtVersion
  /** The version of the code that makes envelopes of records. */
  readonly envelopeVersion: number
}

/**
 * The digest that a policy's job carries, over what is declared and not over the bytes of a bundle: a rebuild changes nothing, a new
 * version of an aggregate is a new policy.
 *
 * Promises: WIN-15.
 *
 * @throws {TidemarkError} TM_CORE_JSON_NOT_CANONICAL for versions that are no whole numbers.
 */
export function manifestDigest(manifest: JobManifest): string {
  const { aggregate, timestampExtractor, envelopeVersion } = manifest
  const declared = {
    aggregate: { name: aggregate.name, version: aggregate.version },
    timestampExtractor: { name: timestampExtractor.name, version: timestampExtractor.version },
    envelopeVersion,
  }
  return hashKey('window-job-manifest', 1, [canonicalJson(declared)])
}
