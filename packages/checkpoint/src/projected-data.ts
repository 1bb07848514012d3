/** What stands under one data key. */
export type ProjectedValue =
  | { readonly kind: 'absent' }
  | { readonly kind: 'string'; readonly value: string }
  | { readonly kind: 'hash'; readonly fields: ReadonlyMap<string, string> }
  | { readonly kind: 'set'; readonly members: ReadonlySet<string> }
  | { readonly kind: 'sorted-set'; readonly scores: ReadonlyMap<string, number> }

/** PORT: reads projected data back, for serving and for verification. */
export interface ProjectedDataReader {
  /** The values under the keys, in the order asked; one round trip per call where the store allows it. */
  readValues(keys: readonly string[]): Promise<readonly ProjectedValue[]>
}
