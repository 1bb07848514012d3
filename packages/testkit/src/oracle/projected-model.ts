import type { ProjectedValue, ProjectionWrite } from '@tidemark/checkpoint'

/**
 * What projected data must be after a sequence of writes, written as plainly as it can be and apart from every store.
 *
 * Each key holds a kind and a list of name/value pairs; every operation rebuilds the list.
 */
export interface ProjectedModel {
  /** Whether the write may be applied as things stand; one that meets another kind may not. */
  accepts(write: ProjectionWrite): boolean
  apply(write: ProjectionWrite): void
  read(key: string): ProjectedValue
  /** Every key that was ever written, also those that are gone. */
  keys(): readonly string[]
  copy(): ProjectedModel
}

/** One key as the model holds it; a string is one pair without a name. */
export interface HeldValue {
  readonly kind: 'string' | 'hash' | 'set' | 'sorted-set'
  readonly pairs: readonly (readonly [string, string | number])[]
}

/** A model in which nothing stands. */
export function createProjectedModel(initial: ReadonlyMap<string, HeldValue | undefined> = new Map()): ProjectedModel {
  const held = new Map(initial)
  const pairsOf = (key: string): HeldValue['pairs'] => held.get(key)?.pairs ?? []
  const without = (key: string, name: string): HeldValue['pairs'] => pairsOf(key).filter(([other]) => other !== name)
  const put = (key: string, kind: HeldValue['kind'], pairs: HeldValue['pairs']): void =>
    void held.set(key, pairs.length === 0 ? undefined : { kind, pairs })
  const valueOf = (key: string, name: string): string | number | undefined =>
    pairsOf(key).find(([other]) => other === name)?.[1]

  return {
    accepts(write) {
      const kind = kindOf(write)
      const found = held.get(write.key)
      if (kind === undefined || found === undefined) return true
      if (write.op === 'setIfGreater') return found.kind === 'string' && /^[0-9]+$/.test(String(found.pairs[0]![1]))
      return write.op === 'set' || found.kind === kind
    },
    apply(write) {
      const { key } = write
      switch (write.op) {
        case 'zadd': {
          const old = valueOf(key, write.member) as number | undefined
          const keepsOld =
            old !== undefined &&
            ((write.mode === 'GT' && old >= write.score) || (write.mode === 'LT' && old <= write.score))
          if (!keepsOld) put(key, 'sorted-set', [...without(key, write.member), [write.member, write.score]])
          return
        }
        case 'zrem':
          return put(key, 'sorted-set', without(key, write.member))
        case 'sadd':
          return put(key, 'set', [...without(key, write.member), [write.member, '']])
        case 'srem':
          return put(key, 'set', without(key, write.member))
        case 'hset':
          return put(key, 'hash', [...without(key, write.field), [write.field, write.value]])
        case 'hdel':
          return put(key, 'hash', without(key, write.field))
        case 'set':
          return put(key, 'string', [['', write.value]])
        case 'setIfGreater': {
          const old = valueOf(key, '')
          if (old === undefined || BigInt(old) < write.value) put(key, 'string', [['', String(write.value)]])
          return
        }
        case 'del':
          return put(key, 'string', [])
      }
    },
    read: (key) => toValue(held.get(key)),
    keys: () => [...held.keys()],
    copy: () => createProjectedModel(held),
  }
}

function kindOf(write: ProjectionWrite): HeldValue['kind'] | undefined {
  switch (write.op) {
    case 'zadd':
    case 'zrem':
      return 'sorted-set'
    case 'sadd':
    case 'srem':
      return 'set'
    case 'hset':
    case 'hdel':
      return 'hash'
    case 'set':
    case 'setIfGreater':
      return 'string'
    case 'del':
      return undefined
  }
}

function toValue(held: HeldValue | undefined): ProjectedValue {
  if (held === undefined) return { kind: 'absent' }
  switch (held.kind) {
    case 'string':
      return { kind: 'string', value: String(held.pairs[0]![1]) }
    case 'hash':
      return { kind: 'hash', fields: new Map(held.pairs as readonly (readonly [string, string])[]) }
    case 'set':
      return { kind: 'set', members: new Set(held.pairs.map(([member]) => member)) }
    case 'sorted-set':
      return { kind: 'sorted-set', scores: new Map(held.pairs as readonly (readonly [string, number])[]) }
  }
}
