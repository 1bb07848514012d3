import { createRequire } from 'node:module'
import { messageOf } from '@tidemark/core'
import type { ConfluentClient } from './reading/confluent-client.ts'
import { kafkaErrors } from './errors.ts'

/** The inspecting client's module. */
export type InspectorClient = typeof import('@platformatic/kafka')

const require = createRequire(import.meta.url)

/**
 * The official client, loaded when it is first needed.
 *
 * @throws {TidemarkError} TM_KAFKA_CLIENT_MISSING when the package or its compiled binding is not there.
 */
export function loadConfluentClient(load: (name: string) => unknown = require): ConfluentClient {
  const name = '@confluentinc/kafka-javascript'
  try {
    return load(name) as ConfluentClient
  } catch (error) {
    throw missing(name, error)
  }
}

/**
 * Checks that the inspecting client is installed, so that a missing one is told at creation and not at the first survey.
 *
 * @throws {TidemarkError} TM_KAFKA_CLIENT_MISSING
 */
export function requireInspectorClient(resolve: (name: string) => unknown = require.resolve): void {
  const name = '@platformatic/kafka'
  try {
    resolve(name)
  } catch (error) {
    throw missing(name, error)
  }
}

/** The inspecting client, loaded when it is first needed. */
export async function loadInspectorClient(): Promise<InspectorClient> {
  try {
    return await import('@platformatic/kafka')
  } catch (error) {
    throw missing('@platformatic/kafka', error)
  }
}

function missing(name: string, error: unknown): Error {
  // Only the first line: the rest is a list of paths that were searched.
  const reason = messageOf(error).split('\n')[0]!
  return kafkaErrors.create('TM_KAFKA_CLIENT_MISSING', { package: name, reason })
}
