import { setTimeout as sleep } from 'node:timers/promises'
import type { CuttingProxy, KafkaBroker } from '@tidemark/testkit/service'
import type { SeededChooser } from '@tidemark/testkit/sim'

/** What a fault acts on: the only way to a broker, and the broker. */
export interface FaultyPath {
  readonly proxy: CuttingProxy
  readonly broker: KafkaBroker
}

/** One way to break the connections to a broker for a while; resolves once it is over. */
export type KafkaFault = (path: FaultyPath, chooser: SeededChooser) => Promise<void>

/** Every fault by name. Those that strike inside an exchange wait until there was one, at most a second. */
export const kafkaFaults: Readonly<Record<string, KafkaFault>> = {
  'every connection cut at once': async ({ proxy }) => proxy.cutAll(),
  'an answer cut inside': (path, chooser) => strikeInside(path, chooser, 'to-client', 'cut'),
  'a request cut inside': (path, chooser) => strikeInside(path, chooser, 'to-server', 'cut'),
  'a connection half-open in an answer': (path, chooser) => strikeInside(path, chooser, 'to-client', 'silence'),
  'a connection half-open in a request': (path, chooser) => strikeInside(path, chooser, 'to-server', 'silence'),
  async 'all connections half-open for a while'({ proxy }, chooser) {
    proxy.silence()
    await sleep(chooser.whole(50, 1_500))
    proxy.pass()
    proxy.cutAll()
  },
  async 'connections refused for a while'({ proxy }, chooser) {
    proxy.refuse()
    proxy.cutAll()
    await sleep(chooser.whole(50, 1_500))
    proxy.pass()
  },
  async 'everything late'({ broker }, chooser) {
    for (let turn = chooser.whole(1, 4); turn > 0; turn -= 1) {
      broker.pause()
      await sleep(chooser.whole(20, 700))
      broker.resume()
      await sleep(chooser.whole(1, 100))
    }
  },
}

async function strikeInside(
  { proxy }: FaultyPath,
  chooser: SeededChooser,
  direction: 'to-client' | 'to-server',
  action: 'cut' | 'silence',
): Promise<void> {
  const open = proxy.connections().filter((connection) => connection.open)
  const chosen = open[chooser.whole(0, open.length - 1)]
  if (chosen === undefined) return
  const passed = direction === 'to-client' ? chosen.bytesToClient : chosen.bytesToServer
  const bytes = passed + chooser.whole(1, direction === 'to-client' ? 3_000 : 150)
  const cut = proxy.program({ on: 'bytes', direction, bytes, connection: chosen.connection, action })
  await Promise.race([cut.struck, sleep(1_000)])
  cut.remove()
}
