import { randomBytes } from 'node:crypto'
import { decodeFence } from '@tidemark/log'
import type { Fence } from '@tidemark/log'
import type { Claim, ClaimRequest } from '@tidemark/checkpoint'
import type { StatementRunner } from '../database/postgres-session.ts'
import { malformed } from '../database/reply-shape.ts'
import type { KeyLayout } from './key-layout.ts'
import { createStatementBuilder } from './statements/statement-builder.ts'
import { textArray } from './stored-text.ts'
import type { TableLayout } from './table-layout.ts'

/** Takes every partition's fence in one statement: all or none. Promises: PGS-7. */
export async function claimFences(
  runner: StatementRunner,
  tables: TableLayout,
  keys: KeyLayout,
  request: ClaimRequest,
): Promise<Claim> {
  const { topic, partitionCount } = request
  const partitions = Array.from({ length: partitionCount }, (_, partition) => partition)
  const nonces = partitions.map(() => newNonce())
  const names = partitions.map((partition) => keys.fence(topic, partition))
  const builder = createStatementBuilder()
  const rows = `unnest(${builder.param(textArray(names))}::text::text[], ${builder.param(textArray(nonces))}::text::text[])`
  // The epoch rises where the old one can be read; the nonce decides either way. The last epoch of 19 digits stays.
  const epoch =
    `CASE WHEN f.fence ~ '^[1-9][0-9]{0,18}:[0-9a-f]{32}$' ` +
    `THEN least(split_part(f.fence, ':', 1)::numeric + 1, 9999999999999999999) ELSE 1 END`
  const text =
    `INSERT INTO ${tables.fence} AS f (key, fence) SELECT r.key, '1:' || r.nonce FROM ${rows} AS r(key, nonce) ORDER BY r.key ` +
    `ON CONFLICT (key) DO UPDATE SET fence = (${epoch})::text || ':' || split_part(excluded.fence, ':', 2) ` +
    `RETURNING f.key, f.fence`
  const result = await runner.query(builder.build(text))
  const taken = new Map(result.rows.map((row) => [row['key'], row['fence']]))
  const fences = new Map<number, Fence>()
  for (const partition of partitions) {
    const fence = decodeFence(String(taken.get(names[partition])))
    if (fence === undefined || fence.nonce !== nonces[partition])
      throw malformed('claim', 'the fence just set', 'another')
    fences.set(partition, fence)
  }
  return { fences }
}

/** 128 random bits as 32 hexadecimal digits. */
export function newNonce(): string {
  return randomBytes(16).toString('hex')
}
