import { Option } from 'commander'
import type { Command } from 'commander'
import type { PlaceOptions } from '../places/place-sources.ts'
import { onceOption, textOption, wholeNumberOption } from './option-values.ts'

/** Options of every command. */
export interface OutputOptions {
  readonly json?: true
  readonly limit?: number
  readonly deadlineMs: number
}

/** How many items of each list are shown, unless said: as many as a screen is read for, or a program. */
export function shownLimit({ json, limit }: OutputOptions): number {
  return limit ?? (json === true ? 1_000 : 40)
}

/** Where the store is. */
export function addStoreOptions(command: Command): Command {
  const several = 'redis[s]://[user@]host:port[,host:port]'
  return command
    .option('--redis <url>', 'the store is a Redis, redis[s]://[user@]host:port[/db] (REDIS_URL)', onceOption)
    .option('--redis-cluster <url>', `the store is a Redis Cluster, ${several} (REDIS_CLUSTER_URL)`, onceOption)
    .option(
      '--redis-sentinel <url>',
      `the store is a Redis behind sentinels, ${several}/name[/db] (REDIS_SENTINEL_URL)`,
      onceOption,
    )
    .option(
      '--redis-data <url>',
      'the store is split: the Redis of the data (REDIS_DATA_URL), with --redis-checkpoints',
      onceOption,
    )
    .option('--redis-checkpoints <url>', 'and the Redis of its checkpoints (REDIS_CHECKPOINTS_URL)', onceOption)
    .option('--postgres <url>', 'the store is a Postgres, postgres://[user@]host[:port]/db (POSTGRES_URL)', onceOption)
    .option('--pglite <dir>', 'the store is a PGlite directory, which nobody else has open', onceOption)
    .option('--schema <name>', 'schema of the checkpoint tables in Postgres', onceOption)
    .option('--data-schema <name>', 'schema of the projected data in Postgres', onceOption)
    .option('--embedded <dir>', 'the store is an embedded directory', onceOption)
}

/** Where the log is. */
export function addLogOptions(command: Command): Command {
  return command
    .option('--kafka <brokers>', 'the log is Kafka, host:port[,host:port] (KAFKA_BROKERS)', onceOption)
    .addOption(new Option('--kafka-client <client>', 'which client reads records').choices(['official', 'pinned']))
    .option('--embedded-log <dir>', 'the log is an embedded directory', onceOption)
}

/** What to look at and from which topic. */
export function addNameOptions(command: Command, topic: 'required' | 'optional'): Command {
  command.requiredOption('-n, --namespace <name>', 'the namespace of the projection (required)', textOption)
  if (topic === 'required')
    return command.requiredOption('-t, --topic <name>', 'the projected topic (required)', textOption)
  return command.option('-t, --topic <name>', 'the projected topic; as meta tells it unless said', textOption)
}

/** What the host declares about its projection; each widens what is safe. */
export function addDeclarationOptions(command: Command, which: 'all' | 'store' | 'log'): Command {
  if (which !== 'log') command.option('--data-keys-carry-no-expiry', 'the service declares dataKeysCarryNoExpiry')
  if (which === 'store') return command
  return command.option('--latest-record-per-key-suffices', 'the service declares latestRecordPerKeySuffices')
}

/** The host's module. */
export function addProjectOptions(command: Command): Command {
  return command
    .requiredOption(
      '--project <module>',
      'ES module that exports the projection function of the service (required)',
      textOption,
    )
    .option('--export <name>', 'the name of that export', textOption, 'project')
    .option('--data-prefix <prefix>', 'stands before every data key', '')
    .option('--stall-ms <ms>', 'how long the log may deliver nothing', wholeNumberOption(100, 3_600_000), 30_000)
    .option('-q, --quiet', 'no progress on standard error')
}

/** When ready is reached; a start has no default for it, and neither has its dry run. */
export function addReadyTarget(command: Command): Command {
  const option = new Option(
    '--ready-target <target>',
    'ready at the high watermark or at the read-committed end (required)',
  )
  return command.addOption(option.choices(['hw', 'lso']).makeOptionMandatory())
}

/** How the answer is shown and how long services have. */
export function addOutputOptions(command: Command): Command {
  return command
    .option('--json', 'print one JSON object')
    .option('--limit <n>', 'show at most so many items of each list', wholeNumberOption(1, 1_000_000))
    .option('--deadline-ms <ms>', 'how long one question to a service may take', wholeNumberOption(100, 600_000), 5_000)
}

/** What commander gives for all of these. */
export type SharedOptions = PlaceOptions &
  OutputOptions & {
    readonly namespace: string
    readonly topic?: string
    readonly dataKeysCarryNoExpiry?: true
    readonly latestRecordPerKeySuffices?: true
  }
