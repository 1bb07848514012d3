import { askRedis, startRedisCluster, startRedisFailover } from '@tidemark/testkit/service'
import { expect, it } from 'vitest'

it(
  '[TST-12] a cluster of three serves every slot, redirects what is elsewhere, and ends without a trace',
  { timeout: 60_000 },
  async () => {
    await using cluster = await startRedisCluster()
    const answers = await Promise.all(cluster.nodes.map((node) => askRedis(node, 'SET', 'foo', 'bar')))
    expect(answers.filter((answer) => answer === '+OK')).toHaveLength(1)
    expect(answers.filter((answer) => answer.startsWith('-MOVED 12182 127.0.0.1:'))).toHaveLength(2)
    expect(await cluster.idOf(cluster.nodes[0]!)).toMatch(/^[0-9a-f]{40}$/)
  },
)

it('a sentinel promotes the replica of a killed primary', { timeout: 60_000 }, async () => {
  await using failover = await startRedisFailover()
  await askRedis(failover.primary, 'SET', 'k', 'v')
  await failover.replicated()
  await failover.primary.kill()
  await failover.failedOver()
  expect(await askRedis(failover.replica, 'GET', 'k')).toContain('v')
  expect(await askRedis(failover.replica, 'SET', 'k', 'w')).toBe('+OK')
})
