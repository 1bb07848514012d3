import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isTidemarkError, messageOf } from '@tidemark/core'
import type { IdempotentWriter, ProjectedDataReader, Undecodable } from '@tidemark/checkpoint'
import type { LogRecord } from '@tidemark/log'
import type { EmptyQuestion } from '@tidemark/postgres/checkpoint'
import { cliErrors } from '../errors.ts'

/** What a host's module must export for `verify` and `rebuild`: the projection function of its service. */
export interface ProjectModule {
  /** The very function the service projects with; pure. */
  readonly project: (record: LogRecord, write: IdempotentWriter) => Undecodable | void
  /** A second source of truth to compare with, where there is one. */
  readonly canonical?: ProjectedDataReader
  /** For a rebuild on Postgres: whether the host's own tables of the projection are empty. */
  readonly isEmpty?: (tx: EmptyQuestion) => Promise<boolean>
}

/**
 * Loads a host's module.
 *
 * @throws {TidemarkError} TM_CLI_PROJECT_INVALID
 */
export async function loadProjectModule(file: string, exportName: string, cwd: string): Promise<ProjectModule> {
  const invalid = (reason: string, cause?: unknown): Error =>
    cliErrors.create('TM_CLI_PROJECT_INVALID', { file, reason }, { cause })
  let loaded: Readonly<Record<string, unknown>>
  try {
    loaded = (await import(pathToFileURL(resolve(cwd, file)).href)) as Readonly<Record<string, unknown>>
  } catch (error) {
    throw invalid(messageOf(error).split('\n')[0]!, error)
  }
  const project = loaded[exportName]
  if (typeof project !== 'function') {
    const names = Object.keys(loaded).join(', ') || 'nothing'
    throw invalid(`its export "${exportName}" is ${typeof project}, not a function; it exports ${names.slice(0, 200)}`)
  }
  const { canonical } = loaded
  if (canonical !== undefined && typeof (canonical as Partial<ProjectedDataReader>).readValues !== 'function') {
    throw invalid('its export "canonical" has no function readValues')
  }
  const { isEmpty } = loaded
  if (isEmpty !== undefined && typeof isEmpty !== 'function') throw invalid('its export "isEmpty" is not a function')
  return {
    project: guardProject(file, project as ProjectModule['project']),
    ...(canonical === undefined ? {} : { canonical: canonical as ProjectedDataReader }),
    ...(isEmpty === undefined ? {} : { isEmpty: isEmpty as NonNullable<ProjectModule['isEmpty']> }),
  }
}

/** A fault of the host's function is told as one, and not as a fault of the command. */
function guardProject(file: string, project: ProjectModule['project']): ProjectModule['project'] {
  return (record, write) => {
    try {
      return project(record, write)
    } catch (error) {
      if (isTidemarkError(error)) throw error
      const where = `partition ${record.partition}, offset ${record.offset}`
      const reason = `${messageOf(error).split('\n')[0]!} (${where})`
      throw cliErrors.create('TM_CLI_PROJECT_FAILED', { file, reason }, { cause: error })
    }
  }
}
