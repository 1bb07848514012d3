// The module of a service on a Redis Cluster in the atomic form: every data key begins with the tag of its partition.
import type { CommutingWriter, Undecodable } from '@tidemark/checkpoint'
import type { LogRecord } from '@tidemark/log'
import { partitionTag } from '@tidemark/redis/checkpoint'
import { project as untagged } from './dispatch-project.ts'

type Project = (record: LogRecord, write: CommutingWriter) => Undecodable | void

/** The projection of a namespace; another namespace has other tags. */
function projectInto(namespace: string): Project {
  return (record, write) => {
    const tag = partitionTag(namespace, 'dispatch', record.partition)
    return untagged(record, {
      ...write,
      zadd: (key, ...rest) => write.zadd(`${tag}:${key}`, ...rest),
    } as CommutingWriter)
  }
}

export const project: Project = projectInto('tagged')
export const older: Project = projectInto('older')
export const newer: Project = projectInto('newer')
