/** Where a mark holds: for one partition, in one generation of it, and only as long as that offset is the next one. */
export interface MarkPlace {
  /** Index in the engine's list of partitions. */
  readonly partition: number
  readonly generation: number
  /** The offset of the record the partition would bring next. */
  readonly atOffset: number
}

/** Nothing more can be fetched from the partition for the time being, proven at an offset. */
export interface IdleMark extends MarkPlace {
  readonly kind: 'idle'
}

/** Something can be fetched again, though no record of it was taken yet. */
export interface ActiveMark extends MarkPlace {
  readonly kind: 'active'
}

/** The partition ends at an offset and brings nothing ever again. */
export interface FinishedMark extends MarkPlace {
  readonly kind: 'finished'
}

/** What an adapter says about a partition besides its records. */
export type Mark = IdleMark | ActiveMark | FinishedMark

/** How a partition counts in the combined frontier. */
export type PartitionStatus = 'ACTIVE' | 'IDLE' | 'FINISHED'
