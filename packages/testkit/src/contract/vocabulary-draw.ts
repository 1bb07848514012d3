import type { CommutingWriter, IdempotentWriter, ProjectionWrite } from '@tidemark/checkpoint'
import type { ProjectedModel } from '../oracle/projected-model.ts'
import type { SeededChooser } from '../sim/seeded-chooser.ts'

/** Random writes over a few keys, each valid where it will be applied: no write meets a value of another kind. */
export function drawWrites(
  chooser: SeededChooser,
  vocabulary: 'commuting' | 'all',
  count: number,
  model: ProjectedModel,
): readonly ProjectionWrite[] {
  const ahead = model.copy()
  return Array.from({ length: count }, () => {
    for (;;) {
      const write = drawWrite(chooser, vocabulary)
      if (!ahead.accepts(write)) continue
      ahead.apply(write)
      return write
    }
  })
}

const commutingOps = ['zadd', 'sadd', 'setIfGreater'] as const
const allOps = ['zadd', 'zrem', 'sadd', 'srem', 'hset', 'hdel', 'set', 'setIfGreater', 'del'] as const

function drawWrite(chooser: SeededChooser, vocabulary: 'commuting' | 'all'): ProjectionWrite {
  const ops: readonly ProjectionWrite['op'][] = vocabulary === 'all' ? allOps : commutingOps
  const op = ops[chooser.whole(0, ops.length - 1)]!
  const member = `m${chooser.whole(0, 4)}`
  // Few keys a kind, so that writes meet; one shared key, so that deleting and reusing under another kind is met too.
  const key = chooser.chance(0.1) ? 'any' : `${familyOf(op)}${chooser.whole(0, 2)}`
  switch (op) {
    case 'zadd': {
      const mode = (['GT', 'LT', 'ANY'] as const)[chooser.whole(0, vocabulary === 'all' ? 2 : 1)]!
      return { op, key, mode, score: chooser.whole(-20, 20), member }
    }
    case 'zrem':
    case 'sadd':
    case 'srem':
      return { op, key, member }
    case 'hset':
      return { op, key, field: member, value: `v${chooser.whole(0, 9)}` }
    case 'hdel':
      return { op, key, field: member }
    case 'set':
      return { op, key, value: `v${chooser.whole(0, 9)}` }
    case 'setIfGreater':
      return { op, key, value: 2n ** 53n + BigInt(chooser.whole(-3, 3)) }
    case 'del':
      return {
        op,
        key: chooser.chance(0.3) ? 'any' : `${familyOf(allOps[chooser.whole(0, 7)]!)}${chooser.whole(0, 2)}`,
      }
  }
}

function familyOf(op: ProjectionWrite['op']): string {
  if (op === 'zadd' || op === 'zrem') return 'z'
  if (op === 'sadd' || op === 'srem') return 's'
  if (op === 'hset' || op === 'hdel') return 'h'
  return op === 'setIfGreater' ? 'n' : 't'
}

/** Calls the writer method of a write. */
export function writeTo(writer: CommutingWriter, write: ProjectionWrite): void {
  const w = writer as IdempotentWriter
  switch (write.op) {
    case 'zadd':
      return w.zadd(write.key, write.mode, write.score, write.member)
    case 'zrem':
      return w.zrem(write.key, write.member)
    case 'sadd':
      return w.sadd(write.key, write.member)
    case 'srem':
      return w.srem(write.key, write.member)
    case 'hset':
      return w.hset(write.key, write.field, write.value)
    case 'hdel':
      return w.hdel(write.key, write.field)
    case 'set':
      return w.set(write.key, write.value)
    case 'setIfGreater':
      return w.setIfGreater(write.key, write.value)
    case 'del':
      return w.del(write.key)
  }
}
