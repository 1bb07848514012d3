/** Where a real service comes from. */
export type ServiceBackend = 'address' | 'docker' | 'local'

/** What is known about one service before any of it is started. */
export interface BackendFacts {
  readonly service: string
  /** The environment variable that may name a running service. */
  readonly variable: string
  readonly address: string | undefined
  readonly dockerAnswers: boolean
  readonly localFound: boolean
  /** What a person can do when nothing is there. */
  readonly remedy: string
}

/** A decision: where to take the service from, or why there is none. */
export type BackendChoice =
  | { readonly kind: 'address'; readonly address: string }
  | { readonly kind: 'docker' }
  | { readonly kind: 'local' }
  | { readonly kind: 'unavailable'; readonly tried: readonly string[]; readonly remedy: string }

/**
 * Which backend serves a test or a demo: an address in the environment, then Docker, then a local binary.
 *
 * Order: fixed, so that a person who names an address always gets exactly that service.
 */
export function chooseBackend(facts: BackendFacts): BackendChoice {
  const address = facts.address?.trim()
  if (address !== undefined && address !== '') return { kind: 'address', address }
  if (facts.dockerAnswers) return { kind: 'docker' }
  if (facts.localFound) return { kind: 'local' }
  return {
    kind: 'unavailable',
    tried: [`no ${facts.variable}`, 'no Docker engine answered', `no local ${facts.service}`],
    remedy: facts.remedy,
  }
}
