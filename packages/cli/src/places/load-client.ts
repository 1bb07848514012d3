import { messageOf } from '@tidemark/core'
import { cliErrors } from '../errors.ts'

/**
 * A module that brings a client with it; which of them are installed is the user's choice.
 *
 * @throws {TidemarkError} TM_CLI_CLIENT_MISSING naming the place that needs it.
 */
export async function loadClient<T>(place: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load()
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error
    // The rest of the message lists files of the machine that were searched.
    const reason = messageOf(error).split(' imported from ')[0]!.split('\n')[0]!
    throw cliErrors.create('TM_CLI_CLIENT_MISSING', { place, reason }, { cause: error })
  }
}
