import { isWellFormed } from '@tidemark/core'
import { checkpointErrors } from '../errors.ts'
import type { Namespace } from '../namespace.ts'
import type { ProjectionWrite } from '../projection-write.ts'

/**
 * Which keys a projection function may not write, given what the store puts before them.
 *
 * A prefix such as `session_` and a key such as `projection:meta` together spell a checkpoint key, so the part of the
 * namespace that the prefix leaves open is what is reserved.
 * @throws {TidemarkError} TM_CHECKPOINT_OPTION_INVALID when every key would fall into the namespace.
 */
export function reservedPrefixOf(namespace: Namespace, dataPrefix: string): string {
  const own = `${namespace}:`
  if (!isWellFormed(dataPrefix) || dataPrefix.startsWith(own)) {
    throw checkpointErrors.create('TM_CHECKPOINT_OPTION_INVALID', {
      option: 'dataPrefix',
      reason: `"${dataPrefix.slice(0, 64)}" lies inside the namespace ${namespace} or is not well-formed`,
    })
  }
  return own.startsWith(dataPrefix) ? own.slice(dataPrefix.length) : own
}

/** The writes with the prefix before every key. */
export function withDataPrefix(writes: readonly ProjectionWrite[], dataPrefix: string): readonly ProjectionWrite[] {
  return dataPrefix === '' ? writes : writes.map((write) => ({ ...write, key: `${dataPrefix}${write.key}` }))
}
