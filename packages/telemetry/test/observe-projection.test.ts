import type { Meter } from '@opentelemetry/api'
import { DataPointType } from '@opentelemetry/sdk-metrics'
import type { MetricData } from '@opentelemetry/sdk-metrics'
import { observeProjection, projectionAttributes, projectionMetrics } from '@tidemark/telemetry'
import type { ProjectionMetric } from '@tidemark/telemetry'
import { describe, expect, it } from 'vitest'
import { createReadMeter, createReportedWorld, valueOf } from './reported-world.ts'

const prefix = 'tidemark.projection.'
const pointTypes = {
  gauge: DataPointType.GAUGE,
  counter: DataPointType.SUM,
  histogram: DataPointType.HISTOGRAM,
}

function attributeSets(metric: MetricData): readonly (readonly string[])[] {
  return metric.dataPoints.map(({ attributes }) => Object.keys(attributes).sort())
}

describe('what is reported', () => {
  it('[TEL-1] is every figure of the catalogue, as the catalogue says, and nothing else', async () => {
    const world = createReportedWorld()
    const { meter, collect } = createReadMeter()
    world.append(0, 'a', 'b', '')
    const projection = world.projection()
    observeProjection(projection, { meter })
    await projection.start()
    expect(await projection.caughtUp({ deadlineMs: 60_000 })).toEqual({ kind: 'ready' })
    // The second projection takes the fences; the first loses its next step and goes dirty.
    const second = world.projection()
    expect((await second.start()).kind).toBe('started')
    world.append(1, 'c')
    expect(await projection.ended()).toMatchObject({ kind: 'dirty', reason: { code: 'FENCED' } })
    const { metrics, errors } = await collect()
    expect(errors).toEqual([])
    expect([...metrics.keys()].sort()).toEqual(projectionMetrics.map(({ name }) => name).sort())
    for (const row of projectionMetrics as readonly ProjectionMetric[]) {
      const metric = metrics.get(row.name)!
      expect(metric.dataPointType, row.name).toBe(pointTypes[row.instrument])
      expect(metric.descriptor, row.name).toMatchObject({ unit: row.unit, description: row.meaning })
      const due = [...projectionAttributes, ...row.attributes].sort()
      expect(metric.dataPoints.length, row.name).toBeGreaterThan(0)
      for (const set of attributeSets(metric)) expect(set, row.name).toEqual(due)
    }
    await Promise.all([projection.stop(), second.stop()])
  })

  it('[TEL-2] is what the status says at the moment of the collection', async () => {
    const world = createReportedWorld()
    const { meter, collect } = createReadMeter()
    world.append(0, 'a', 'b', '', 'd')
    const projection = world.projection()
    observeProjection(projection, { meter })
    const before = (await collect()).metrics
    expect(valueOf(before, `${prefix}state`, { 'tidemark.state': 'starting' })).toBe(1)
    expect(valueOf(before, `${prefix}ready`)).toBe(0)
    expect(valueOf(before, `${prefix}time_to_ready`)).toBeUndefined()
    expect(valueOf(before, `${prefix}conflicts`, { 'tidemark.conflict.kind': 'fenced' })).toBe(0)
    await projection.start()
    await projection.caughtUp({ deadlineMs: 60_000 })
    const { metrics } = await collect()
    const status = projection.status()
    const zero = { 'tidemark.partition': '0', 'tidemark.topic': 'dispatch', 'tidemark.namespace': 'sessions' }
    const read = (name: string): unknown => valueOf(metrics, `${prefix}${name}`, zero)
    expect([read('offset.next'), read('offset.target'), read('offset.low')]).toEqual([4, 4, 0])
    expect([read('offset.last_stable'), read('offset.high_watermark')]).toEqual([4, 4])
    expect([read('headroom'), read('lag'), read('open_transaction'), read('queued')]).toEqual([4, 0, 0, 0])
    expect([read('replay_at_start'), read('stalled'), read('quarantine.stored')]).toEqual([4, 0, 1])
    const own = (name: string, attributes = {}): unknown => valueOf(metrics, `${prefix}${name}`, attributes)
    expect([own('ready'), own('dirty')]).toEqual([1, undefined])
    expect(own('state', { 'tidemark.state': 'ready' })).toBe(1)
    expect(own('partitions', { 'tidemark.progress': 'caught-up' })).toBe(2)
    expect([own('records.applied'), own('records.quarantined')]).toEqual([4, 1])
    expect([own('steps.applied'), own('steps.resent')]).toEqual([status.counters.stepsApplied, 0])
    expect(own('time_to_ready')).toBe(status.timeToReadyMs! / 1_000)
    expect(own('lease.age')).toBe(status.leaseAgeMs! / 1_000)
    expect(own('identity.age')).toBe(status.identityAgeMs! / 1_000)
    expect(own('step.records')).toMatchObject({ count: status.counters.stepsApplied, sum: 4 })
    expect(own('step.duration')).toMatchObject({ count: status.counters.stepsApplied })
    expect(own('identity.check.duration', { 'tidemark.identity.verdict': 'proven' })).toMatchObject({
      count: status.counters.identityChecks,
    })
    await projection.stop()
  })

  it('[TEL-3] has few series however many partitions there are, and the worst of the rest is among them', async () => {
    const world = createReportedWorld(40)
    const { meter, collect } = createReadMeter()
    world.append(30, 'a', 'b')
    const projection = world.projection()
    observeProjection(projection, { meter, partitionsMax: 4, attributes: { instance: 'one', 'tidemark.topic': 'x' } })
    await projection.start()
    await projection.caughtUp({ deadlineMs: 60_000 })
    const { metrics } = await collect()
    for (const [name, { dataPoints }] of metrics) expect(dataPoints.length, name).toBeLessThanOrEqual(5)
    const rest = { 'tidemark.partition': 'rest', 'tidemark.topic': 'dispatch', instance: 'one' }
    expect(valueOf(metrics, `${prefix}replay_at_start`, rest)).toBe(2)
    expect(valueOf(metrics, `${prefix}headroom`, rest)).toBe(0)
    expect(valueOf(metrics, `${prefix}offset.next`, rest)).toBeUndefined()
    expect(() => observeProjection(projection, { meter, partitionsMax: 2_000 })).toThrow(
      expect.objectContaining({ code: 'TM_CORE_LIMIT_INVALID' }),
    )
    await projection.stop()
  })
})

describe('reporting and the projection', () => {
  it('[TEL-4] a meter that throws is counted, and the projection goes on', async () => {
    const world = createReportedWorld()
    const { meter, collect } = createReadMeter()
    world.append(0, 'a', 'b')
    const broken = Object.create(meter) as Meter
    broken.createHistogram = () => ({
      record() {
        throw new Error('no room')
      },
    })
    const projection = world.projection()
    observeProjection(projection, { meter: broken })
    await projection.start()
    expect(await projection.caughtUp({ deadlineMs: 60_000 })).toEqual({ kind: 'ready' })
    const { metrics } = await collect()
    const failures = projection.status().counters.observerFailures
    expect(failures).toBeGreaterThan(0)
    expect(valueOf(metrics, `${prefix}observer.failures`)).toBe(failures)
    await projection.stop()
  })

  it('[TEL-4] a status that fails leaves the collection whole', async () => {
    const { meter, collect } = createReadMeter()
    const projection = createReportedWorld().projection()
    let broken = false
    observeProjection(
      {
        observe: (observer) => projection.observe(observer),
        status: () => {
          if (broken) throw new Error('no status')
          return projection.status()
        },
      },
      { meter },
    )
    meter.createObservableGauge('other').addCallback((result) => result.observe(3))
    broken = true
    const { metrics, errors } = await collect()
    expect(errors).toEqual([])
    expect(valueOf(metrics, 'other')).toBe(3)
    await projection.stop()
  })

  it('[TEL-5] nothing is observed after the end, and another observation of the projection goes on', async () => {
    const world = createReportedWorld()
    const [first, second] = [createReadMeter(), createReadMeter()]
    const projection = world.projection()
    const observation = observeProjection(projection, { meter: first.meter })
    observeProjection(projection, { meter: second.meter })
    await projection.start()
    await projection.caughtUp({ deadlineMs: 60_000 })
    const checks = (metrics: ReadonlyMap<string, MetricData>): number =>
      (valueOf(metrics, `${prefix}identity.check.duration`) as { count: number }).count
    const total = (metrics: ReadonlyMap<string, MetricData>): unknown => valueOf(metrics, `${prefix}identity.checks`)
    await first.collect()
    observation.end()
    observation.end()
    const before = (await first.collect()).metrics
    await world.log.clock.sleep(3_000)
    const after = (await first.collect()).metrics
    // The SDK repeats the last value it was given; what matters is that it was given none.
    expect([checks(after), total(after)]).toEqual([checks(before), total(before)])
    const going = (await second.collect()).metrics
    expect(checks(going)).toBeGreaterThan(checks(before))
    expect(total(going)).toBe(projection.status().counters.identityChecks)
    await projection.stop()
  })
})
