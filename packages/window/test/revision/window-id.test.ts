import { hashKey } from '@tidemark/core'
import { describe, expect, it } from 'vitest'
import { logicalWindowId, projectionId } from '../../src/revision/window-id.ts'

const window = { businessStream: 'revenue', key: 'shop-7', startMs: -3_600_000, endMs: 0 }

describe('window ids', () => {
  it('[WIN-60] a window is its stream, key and bounds, and nothing else', () => {
    const id = logicalWindowId(window)
    expect(id).toBe(hashKey('logical-window', 1, ['revenue', 'shop-7', '-3600000', '0']))
    const others = [
      { ...window, businessStream: 'revenues' },
      { ...window, key: 'shop-' },
      { ...window, startMs: -3_600_001 },
      { ...window, endMs: 1 },
      { ...window, businessStream: 'revenues', key: 'hop-7' },
    ].map(logicalWindowId)
    expect(new Set([id, ...others]).size).toBe(6)
    expect(logicalWindowId({ ...window, generation: 4 } as never)).toBe(id)
  })

  it('[WIN-60] a projection is one generation of it', () => {
    const id = logicalWindowId(window)
    expect(projectionId(id, 1)).not.toBe(projectionId(id, 2))
    expect(projectionId(id, 1)).not.toBe(id)
    expect(projectionId(logicalWindowId({ ...window, key: 'shop-8' }), 1)).not.toBe(projectionId(id, 1))
  })
})
