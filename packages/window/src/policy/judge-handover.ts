import { judgeGeneration } from './judge-generation.ts'
import type { FrozenPolicy } from './frozen-policy.ts'

/** Whether a new generation may go on from the frontier of an old one. */
export type HandoverVerdict =
  | { readonly kind: 'allowed' }
  /** Every reason at once; what remains is a replay, which starts with nothing claimed. */
  | { readonly kind: 'refused'; readonly reasons: readonly HandoverRefusal[] }

/** One reason against carrying the frontier over. */
export interface HandoverRefusal {
  readonly code: 'OTHER_STREAM' | 'NOT_A_LATER_GENERATION' | 'OTHER_WATERMARK' | 'OTHER_EXTRACTOR'
  readonly message: string
}

/**
 * Whether the frontier is a claim of the offered policy too.
 *
 * A claim says that everything before F has been seen under one bound and one reading of event times; under another bound or
 * extractor it says nothing, and records would be late that are on time.
 *
 * Promises: WIN-12.
 *
 * @throws {TidemarkError} TM_WINDOW_POLICY_DAMAGED where a policy and its digests do not fit.
 */
export function judgeHandover(held: FrozenPolicy, offered: FrozenPolicy): HandoverVerdict {
  const verdict = judgeGeneration(held, offered)
  const reasons: HandoverRefusal[] = []
  const { watermark, timestampExtractor, generation, businessStream } = held.policy
  const { policy } = offered
  if (verdict.kind === 'other-stream') {
    const message = `the frontier is that of ${JSON.stringify(businessStream)}, not of ${JSON.stringify(policy.businessStream)}`
    reasons.push({ code: 'OTHER_STREAM', message })
  } else if (verdict.kind !== 'new-generation') {
    const message = `generation ${policy.generation} does not come after generation ${generation}`
    reasons.push({ code: 'NOT_A_LATER_GENERATION', message })
  }
  if (policy.watermark.kind !== watermark.kind || policy.watermark.boundMs !== watermark.boundMs) {
    const message = `the claims were made with a bound of ${watermark.boundMs} ms, not of ${policy.watermark.boundMs} ms`
    reasons.push({ code: 'OTHER_WATERMARK', message })
  }
  const [from, to] = [timestampExtractor, policy.timestampExtractor].map(({ name, version }) => `${name}@${version}`)
  if (from !== to) {
    reasons.push({ code: 'OTHER_EXTRACTOR', message: `the claims are about the times of ${from}, not of ${to}` })
  }
  return reasons.length === 0 ? { kind: 'allowed' } : { kind: 'refused', reasons }
}
