import type { BrokerConnections, Send } from './broker-connections.ts'
import type { BrokerAddress } from '../connection-options.ts'

/** The first answer that will do, or all reasons why there is none. */
export type FirstAnswer<T> =
  { readonly kind: 'answer'; readonly answer: T } | { readonly kind: 'none'; readonly message: string }

/** How many different reasons a message lists. */
const REASONS_MAX = 5

/**
 * Asks every address at once and takes the first answer that is not refused.
 *
 * For questions that any broker may answer: one frozen broker must not use up the deadline of the others.
 */
export async function askAnyBroker<T>(
  connections: BrokerConnections,
  addresses: readonly BrokerAddress[],
  deadlineMs: number,
  send: Send<T>,
  refusal: (answer: T) => string | undefined,
): Promise<FirstAnswer<T>> {
  const reasons = new Set<string>()
  const exchanges = addresses.map(async (address): Promise<FirstAnswer<T>> => {
    const exchange = await connections.exchange(address, deadlineMs, send)
    const reason = exchange.kind === 'answer' ? refusal(exchange.answer) : exchange.message
    if (exchange.kind === 'answer' && reason === undefined) return exchange
    reasons.add(reason ?? 'no answer')
    throw new Error(reason)
  })
  return Promise.any(exchanges).catch(() => ({
    kind: 'none',
    message: reasons.size === 0 ? 'no broker is known' : [...reasons].slice(0, REASONS_MAX).join('; '),
  }))
}
