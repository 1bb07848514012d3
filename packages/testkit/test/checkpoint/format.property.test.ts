import { decodeCheckpoint, decodeMeta, encodeCheckpoint, encodeMeta } from '@tidemark/checkpoint'
import { offsetOf } from '@tidemark/core'
import { fieldDamage, logIdentity, nearOffset } from '@tidemark/testkit/arbitrary'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { runSize } from '../run-size.ts'

const value = fc.record({
  identity: logIdentity,
  partition: fc.integer({ min: 0, max: 100_000 }),
  nextOffset: nearOffset.map((offset) => offsetOf(offset)),
})

describe('format version 1', () => {
  it('[CKP-1] [CKP-2] every checkpoint and meta survives its fields', () => {
    fc.assert(
      fc.property(value, (checkpoint) => {
        expect(decodeCheckpoint(encodeCheckpoint(checkpoint))).toEqual({ kind: 'decoded', value: checkpoint })
        const { identity } = checkpoint
        expect(decodeMeta(encodeMeta(identity))).toEqual({ kind: 'decoded', value: { identity } })
      }),
      runSize(2_000, 50_000),
    )
  })

  it('[CKP-2] [CK-57] damage is refused, or the fields are those of another checkpoint byte for byte', () => {
    fc.assert(
      fc.property(value, fieldDamage, (checkpoint, damage) => {
        const fields = damage(encodeCheckpoint(checkpoint))
        const decoded = decodeCheckpoint(fields)
        if (decoded.kind === 'decoded') expect(encodeCheckpoint(decoded.value)).toEqual(fields)
      }),
      runSize(5_000, 100_000),
    )
  })

  it('[CKP-2] one changed, added or lost character of any field is refused or is another checkpoint', () => {
    fc.assert(
      fc.property(value, fc.nat(6), fc.nat(), fc.string({ maxLength: 2 }), (checkpoint, field, at, text) => {
        const fields = encodeCheckpoint(checkpoint)
        const name = Object.keys(fields)[field]!
        const old = fields[name]!
        const index = at % (old.length + 1)
        const changed = { ...fields, [name]: `${old.slice(0, index)}${text}${old.slice(index + 1)}` }
        const decoded = decodeCheckpoint(changed)
        if (decoded.kind === 'decoded') expect(encodeCheckpoint(decoded.value)).toEqual(changed)
        else expect(decoded.faults.length).toBeGreaterThan(0)
      }),
      runSize(10_000, 200_000),
    )
  })
})
