import { createCuttingProxy, startKafka } from '@tidemark/testkit/service'
import type { CuttingProxy, KafkaCluster } from '@tidemark/testkit/service'
import { createSeededChooser } from '@tidemark/testkit/sim'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { checkContiguous, contiguousValues } from '../src/contiguous-records.ts'
import { gateWorlds } from '../src/gate-cleanup.ts'
import { startReady } from '../src/gate-world.ts'
import type { GateWorld } from '../src/gate-world.ts'
import { kafkaFaults } from '../src/kafka-faults.ts'
import { fullSize, rowsOn, variantsOf } from '../src/variants/gate-variants.ts'

const open = gateWorlds()
const rounds = fullSize ? 25 : 1
const seed = Number(process.env['TIDEMARK_SEED'] ?? 1)

let proxy: CuttingProxy
let cluster: KafkaCluster

beforeAll(async () => {
  const throughProxy = async (target: { readonly host: string; readonly port: number }): Promise<string> => {
    proxy = await createCuttingProxy({ target, framing: 'bytes' })
    return `${proxy.host}:${proxy.port}`
  }
  cluster = await startKafka({ throughProxy })
})
afterAll(async () => {
  await cluster?.close()
  await proxy?.close()
})

/** Applies everything up to an offset, starting again as often as the projection goes dirty; how often that was. */
async function applyThrough(
  world: GateWorld,
  running: { projection: ReturnType<GateWorld['projection']> },
  end: number,
) {
  const untilMs = performance.now() + 45_000
  let restarts = 0
  for (;;) {
    const { state, partitions, ready } = running.projection.status()
    if (state === 'ready' && ready && partitions[0]?.next === String(end)) return restarts
    if (performance.now() > untilMs) throw new Error(`stuck: ${JSON.stringify(running.projection.status())}`)
    if (state !== 'dirty') {
      await new Promise((resolve) => setTimeout(resolve, 10))
      continue
    }
    await running.projection.stop()
    await checkContiguous(world, 'u')
    running.projection = world.projection({ brokers: cluster.proxiedBrokers, limits })
    await startReady(running.projection)
    restarts += 1
  }
}

const limits = { batchRecordsMax: 10, stallMsMax: 3_000 }

describe.each(variantsOf('faults'))(
  '[A1] broken connections to the brokers under a live projection, $name',
  (variant) => {
    it.each(rowsOn(variant, Object.entries(kafkaFaults), 4))(
      '[A1] %s: recovered or dirty, never a skipped or a wrong record',
      async (_, fault) => {
        const world = await open({ variant, brokers: cluster.bootstrapBrokers })
        const chooser = createSeededChooser(seed)
        const running = { projection: world.projection({ brokers: cluster.proxiedBrokers, limits }) }
        await startReady(running.projection)
        let end = 0
        const append = async (count: number): Promise<void> => {
          await world.kafka.append(world.topic, 0, contiguousValues(end, count, 'u'))
          end += count
        }
        let restarts = 0
        try {
          for (let round = 0; round < rounds; round += 1) {
            // Records before, during and after, so that the fault meets fetches that carry some.
            await append(chooser.whole(1, 300))
            const struck = fault({ proxy, broker: cluster.brokers[0]! }, chooser)
            await append(chooser.whole(1, 300))
            await struck
            await append(chooser.whole(1, 50))
            restarts += await applyThrough(world, running, end)
            expect(await checkContiguous(world, 'u')).toBe(end)
          }
        } finally {
          await running.projection.stop()
        }
        console.info(`${variant.name}: ${rounds} rounds, ${restarts} restarts, ${end} records, seed ${seed}`)
        expect(await world.store.checkpoint(0)).toBe(String(end))
        if (world.store.applied !== undefined) expect(await world.store.applied('u')).toBe(end)
      },
      15 * 60_000,
    )
  },
)
