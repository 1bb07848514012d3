import { chooseBackend } from './backend-choice.ts'
import { dockerAnswers } from './docker-probe.ts'
import { serviceErrors } from './errors.ts'
import type { ServiceEndpoint } from './service-endpoint.ts'

/** How one service is had, each way. */
export interface EndpointWays {
  /** For messages, for example `Redis`. */
  readonly service: string
  /** The environment variable that may name a running service, and what it holds. */
  readonly variable: string
  readonly named: string | undefined
  readonly localFound: () => Promise<boolean>
  /** What a person can do when nothing is there. */
  readonly remedy: string
  atAddress(address: string): Promise<ServiceEndpoint>
  inDocker(): Promise<ServiceEndpoint>
  startLocal(): Promise<ServiceEndpoint>
}

/**
 * A real service that answers: the one named in the environment, else one in Docker, else a local program.
 *
 * Throws: TM_SERVICE_UNAVAILABLE with the remedy when there is none.
 */
export async function openEndpoint(ways: EndpointWays): Promise<ServiceEndpoint> {
  const { service, variable, named, remedy } = ways
  const choice = chooseBackend({
    service,
    variable,
    address: named,
    // Asking Docker takes a moment; a named service needs no answer.
    dockerAnswers: (named ?? '') === '' && (await dockerAnswers()),
    localFound: await ways.localFound(),
    remedy,
  })
  switch (choice.kind) {
    case 'address':
      return ways.atAddress(choice.address)
    case 'docker':
      return ways.inDocker()
    case 'local':
      return ways.startLocal()
    case 'unavailable': {
      const details = { service, tried: [...choice.tried], remedy: choice.remedy }
      throw serviceErrors.create('TM_SERVICE_UNAVAILABLE', details)
    }
  }
}
