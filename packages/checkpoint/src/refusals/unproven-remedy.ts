import type { NoAnswerReason } from '@tidemark/log'

const withoutIds =
  'Use brokers that report cluster id and topic id (KIP-516, Apache Kafka 2.8 on); there is no opt-out.'
const notReached = 'Make every listed broker reachable from here and healthy, then start again.'

const remedies: Readonly<Record<NoAnswerReason | 'disagreement', string>> = {
  'unknown-topic':
    'This broker does not know the topic. Check its name and the cluster, and permit Describe on it; create it if it never existed.',
  'zero-topic-id': withoutIds,
  'missing-cluster-id': withoutIds,
  unsupported: withoutIds,
  authorization: 'Permit this client to describe the topic (Describe), then start again.',
  timeout: notReached,
  unreachable: notReached,
  'no-leader': 'Wait until every partition has a leader, then start again.',
  malformed:
    'What answered is no broker that can be understood. Check the address and the version of what listens there.',
  damaged: 'The files of the embedded log are damaged. Restore its whole directory from a backup.',
  disagreement:
    'Wait until the brokers agree, then start again; one that stays different is stale or of another cluster.',
}

/** What to do about an identity that nobody proves: it depends on why no usable answer came. */
export function unprovenRemedy(reason: NoAnswerReason | 'disagreement'): string {
  return remedies[reason]
}
