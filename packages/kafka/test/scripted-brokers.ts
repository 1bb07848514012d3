import type { BrokerConnections, BrokerLink, Exchange } from '../src/inspection/broker-connections.ts'
import { addressText } from '../src/connection-options.ts'
import type { BrokerAddress } from '../src/connection-options.ts'

/** What one scripted broker answers to a request; `undefined` never answers. */
export type Script = (request: ScriptedRequest) => unknown

/** A request as a scripted broker sees it. */
export interface ScriptedRequest {
  readonly api: string
  readonly args: readonly unknown[]
}

/** Brokers that answer from scripts, by address, over the same port as real connections. */
export function scriptedBrokers(
  scripts: Readonly<Record<string, Script>>,
): BrokerConnections & { readonly asked: string[] } {
  const asked: string[] = []
  return {
    asked,
    async exchange<T>(
      address: BrokerAddress,
      deadlineMs: number,
      send: (link: BrokerLink, done: (error: Error | null, answer?: T) => void) => void,
    ) {
      const where = addressText(address)
      asked.push(where)
      const script = scripts[where]
      if (script === undefined)
        return { kind: 'silence', reason: 'unreachable', message: `${where} is not there` } as const
      return new Promise<Exchange<T>>((resolve) => {
        const timer = setTimeout(
          () => resolve({ kind: 'silence', reason: 'timeout', message: `${where} timed out` }),
          deadlineMs,
        )
        const settle = (exchange: Exchange<T>): void => {
          clearTimeout(timer)
          resolve(exchange)
        }
        const client = new Proxy(
          {},
          {
            get: (_target, api: string) => ({
              api: (_connection: unknown, ...args: unknown[]) => {
                const done = args.pop() as (error: Error | null, answer?: unknown) => void
                const answer = script({ api, args })
                if (answer !== undefined) setTimeout(() => done(null, answer), 5)
              },
            }),
          },
        )
        const link = {
          client,
          connection: {},
          newest: (_key: number, offered: readonly number[]) => Math.max(...offered),
        }
        send(link as unknown as BrokerLink, (error, answer) => {
          if (error === null) settle({ kind: 'answer', answer: answer as T })
          else settle({ kind: 'silence', reason: 'unsupported', message: error.message })
        })
      })
    },
    close: async () => undefined,
  }
}

/** A Metadata answer of a healthy one-topic cluster. */
export function metadataOf(
  brokers: Readonly<Record<number, string>>,
  leaders: readonly number[],
  topicId = 'edbce881-ef7f-96bd-9da2-2d48fd68e2f5',
) {
  return {
    clusterId: 'cluster',
    brokers: Object.entries(brokers).map(([nodeId, where]) => {
      const [host, port] = where.split(':') as [string, string]
      return { nodeId: Number(nodeId), host, port: Number(port) }
    }),
    topics: [
      {
        errorCode: 0,
        name: 't',
        topicId,
        partitions: leaders.map((leaderId, partitionIndex) => ({
          errorCode: 0,
          partitionIndex,
          leaderId,
          leaderEpoch: 4,
        })),
      },
    ],
  }
}
