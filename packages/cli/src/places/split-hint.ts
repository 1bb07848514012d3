import { decodeCheckpoint } from '@tidemark/checkpoint'
import type { StoredState } from '@tidemark/checkpoint'

/**
 * What a place named as one server may be, judged by what stands there: the checkpoints of a split store carry fences and
 * positions like any other, and no tail witness, since that moves with the data.
 *
 * A projection that took over older checkpoints and has not stepped since looks the same, so it is no verdict.
 */
export function splitHint({ twins, witnesses, fences, checkpoints }: StoredState): string | undefined {
  if (twins !== undefined || witnesses.size > 0) return undefined
  const hasMoved = [...checkpoints].some(([partition, fields]) => {
    const decoded = decodeCheckpoint(fields)
    return fences.has(partition) && decoded.kind === 'decoded' && decoded.value.nextOffset > 0n
  })
  if (!hasMoved) return undefined
  return (
    'positions have moved and no partition has a tail witness, as beside the checkpoints of a split store; ' +
    'where the data is on another server, name both by --redis-data and --redis-checkpoints'
  )
}
