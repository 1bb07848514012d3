import { commutes, createWriteBuffer } from '@tidemark/checkpoint'
import type { CommutingWriter, IdempotentWriter, WriteBuffer, WriteMark } from '@tidemark/checkpoint'
import { redisErrors } from '../errors.ts'
import type { StepWrites } from './write-encoding.ts'

/** Makes buffers and reads back what they collected; buffers of anybody else are refused. */
export interface StepBuffers<Writer> {
  create(): WriteBuffer<Writer>
  /** @throws {TidemarkError} TM_REDIS_BUFFER_FOREIGN */
  writesOf(buffer: WriteBuffer<Writer>): StepWrites
}

/** Buffers of the whole vocabulary. */
export function idempotentBuffers(store: string, reservedPrefix: string): StepBuffers<IdempotentWriter> {
  return trackedBuffers(store, reservedPrefix, (writer) => writer)
}

/** Buffers of the writes that commute; a program without types cannot get around it either. Promises: RED-20. */
export function commutingBuffers(store: string, reservedPrefix: string): StepBuffers<CommutingWriter> {
  return trackedBuffers(store, reservedPrefix, (writer) => ({
    zadd(key, mode, score, member) {
      if (!commutes({ op: 'zadd', key, mode, score, member })) {
        throw redisErrors.create('TM_REDIS_WRITE_NOT_COMMUTING', { op: `zadd ${String(mode)}`, key: key.slice(0, 128) })
      }
      writer.zadd(key, mode, score, member)
    },
    sadd: (key, member) => writer.sadd(key, member),
    setIfGreater: (key, value) => writer.setIfGreater(key, value),
  }))
}

function trackedBuffers<Writer>(
  store: string,
  reservedPrefix: string,
  narrow: (writer: IdempotentWriter) => Writer,
): StepBuffers<Writer> {
  const collected = new WeakMap<object, StepWrites>()
  return {
    create() {
      const inner = createWriteBuffer({ reservedPrefix })
      const buffer: WriteBuffer<Writer> = {
        writer: narrow(inner.writer),
        get writeCount() {
          return inner.writeCount
        },
        get byteCount() {
          return inner.byteCount
        },
        mark: () => inner.mark(),
        rewind: (mark: WriteMark) => inner.rewind(mark),
      }
      collected.set(buffer, inner)
      return buffer
    },
    writesOf(buffer) {
      const writes = collected.get(buffer)
      if (writes === undefined) throw redisErrors.create('TM_REDIS_BUFFER_FOREIGN', { store })
      return writes
    },
  }
}
