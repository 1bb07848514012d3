import { Command, Option } from 'commander'
import type { CommandHost } from '../host.ts'
import type { Finished } from '../commands/finished.ts'
import { readLogPlace, readStorePlace } from '../places/place.ts'
import type { PlaceSources } from '../places/place-sources.ts'
import { packageVersion } from '../package-version.ts'
import { cliErrors } from '../errors.ts'
import { helpEpilogue } from './help-epilogue.ts'
import { textOption, wholeNumberOption } from './option-values.ts'
import * as shared from './shared-options.ts'
import type { SharedOptions } from './shared-options.ts'

/** What a command line came to: the command that was run, and how it ended. */
export interface CommandLine {
  readonly program: Command
  /** What the action gave; absent where help or the version was asked for. */
  finished(): Finished | undefined
}

/**
 * The commands and their options. Actions read settings, load what they need, and run; nothing heavy is loaded before.
 */
export function createCommandLine(host: CommandHost, sources: PlaceSources): CommandLine {
  let finished: Finished | undefined
  const keep = (outcome: Finished): void => void (finished = outcome)
  const program = new Command('tidemark')
    .description('Explains, inspects, verifies and rebuilds projections. Only rebuild --execute writes.')
    .version(packageVersion(), '-V, --version')
    .helpCommand(false)
    .addHelpText('after', helpEpilogue())
  addExplain(program, host, sources, keep)
  addInspect(program, host, sources, keep)
  addVerify(program, host, sources, keep)
  addRebuild(program, host, sources, keep)
  return { program, finished: () => finished }
}

type Keep = (finished: Finished) => void

function addExplain(program: Command, host: CommandHost, sources: PlaceSources, keep: Keep): void {
  const command = program.command('explain').description('what a start would decide now: the plan, or every refusal')
  shared.addNameOptions(command, 'required')
  shared.addReadyTarget(shared.addLogOptions(shared.addStoreOptions(command)))
  command.option('--deep', 'also walk every key of the store for strays of the namespace')
  shared.addOutputOptions(shared.addDeclarationOptions(command, 'all'))
  command.action(async (options: SharedOptions & { readonly readyTarget: 'hw' | 'lso'; readonly deep?: true }) => {
    const { namespace, readyTarget, deadlineMs } = options
    const settings = {
      ...{ namespace, readyTarget, deadlineMs, topic: options.topic!, deep: options.deep === true },
      log: readLogPlace(options, sources),
      store: readStorePlace(options, sources),
      declarations: {
        dataKeysCarryNoExpiry: options.dataKeysCarryNoExpiry === true,
        latestRecordPerKeySuffices: options.latestRecordPerKeySuffices === true,
      },
      limit: shared.shownLimit(options),
    }
    const { runExplain } = await import('../commands/run-explain.ts')
    keep(await runExplain(settings, host))
  })
}

interface InspectOptions extends SharedOptions {
  readonly quarantine: number
  readonly raw?: true
}

function addInspect(program: Command, host: CommandHost, sources: PlaceSources, keep: Keep): void {
  const command = program.command('inspect').description('what the store holds under a namespace, decoded and raw')
  shared.addStoreOptions(shared.addNameOptions(command, 'optional'))
  command
    .option('--quarantine <n>', 'newest quarantine entries of each partition', wholeNumberOption(0, 100_000), 5)
    .option('--raw', 'the stored fields of every partition, not only of damaged ones')
  shared.addOutputOptions(shared.addDeclarationOptions(command, 'store'))
  command.action(async (options: InspectOptions) => {
    const { namespace, topic, quarantine, deadlineMs } = options
    const settings = {
      ...{ namespace, topic, quarantine, deadlineMs, raw: options.raw === true },
      store: readStorePlace(options, sources),
      dataKeysCarryNoExpiry: options.dataKeysCarryNoExpiry === true,
      limit: shared.shownLimit(options),
    }
    const { runInspect } = await import('../commands/run-inspect.ts')
    keep(await runInspect(settings, host))
  })
}

interface ProjectOptions extends SharedOptions {
  readonly project: string
  readonly export: string
  readonly dataPrefix: string
  readonly stallMs: number
  readonly quiet?: true
}

function addVerify(program: Command, host: CommandHost, sources: PlaceSources, keep: Keep): void {
  const command = program
    .command('verify')
    .description('whether what is served is what the log says, by recomputing it')
  shared.addNameOptions(command, 'required')
  shared.addProjectOptions(shared.addLogOptions(shared.addStoreOptions(command)))
  command.option('--keys-max <n>', 'recomputed keys held in memory at most', wholeNumberOption(1, 2 ** 31), 1_000_000)
  shared.addOutputOptions(shared.addDeclarationOptions(command, 'log'))
  command.action(async (options: ProjectOptions & { readonly keysMax: number }) => {
    const { namespace, dataPrefix, project, keysMax, stallMs, deadlineMs } = options
    const settings = {
      ...{ namespace, topic: options.topic!, dataPrefix, project, exportName: options.export },
      ...{ keysMax, stallMs, deadlineMs, quiet: options.quiet === true },
      latestRecordPerKeySuffices: options.latestRecordPerKeySuffices === true,
      log: readLogPlace(options, sources),
      store: readStorePlace(options, sources),
      limit: shared.shownLimit(options),
    }
    const { runVerify } = await import('../commands/run-verify.ts')
    keep(await runVerify(settings, host))
  })
}

interface RebuildCommandOptions extends ProjectOptions {
  readonly into: string
  readonly data: 'new-prefix' | 'shared'
  readonly newDataPrefix?: string
  readonly keepsOldData?: true
  readonly form: 'atomic' | 'two-step'
  readonly readyTarget: 'hw' | 'lso'
  readonly undecodable: 'stop' | 'quarantine'
  readonly batchRecords: number
  readonly leaseMs: number
  readonly execute?: string
}

function addRebuild(program: Command, host: CommandHost, sources: PlaceSources, keep: Keep): void {
  const command = program
    .command('rebuild')
    .description('everything again from offset 0 into a namespace never used; a look unless --execute repeats its name')
  shared.addNameOptions(command, 'required')
  command
    .requiredOption('--into <namespace>', 'the new namespace (required)', textOption)
    .addOption(
      new Option('--data <where>', 'new data under a prefix of its own, or on the old keys (required)')
        .choices(['new-prefix', 'shared'])
        .makeOptionMandatory(),
    )
    .option('--new-data-prefix <prefix>', 'stands before every new data key; as --data-prefix when shared')
    .option('--keeps-old-data', 'with --data shared: what the old projection wrote stays, and that is right')
    .addOption(
      new Option('--form <form>', 'how steps are made on Redis (required there, but for a split store)').choices([
        'atomic',
        'two-step',
      ]),
    )
  shared.addReadyTarget(shared.addProjectOptions(shared.addLogOptions(shared.addStoreOptions(command))))
  command
    .addOption(
      new Option('--undecodable <way>', 'what becomes of a record that cannot be projected (required)')
        .choices(['stop', 'quarantine'])
        .makeOptionMandatory(),
    )
    .option('--batch-records <n>', 'records in one step', wholeNumberOption(1, 10_000), 500)
    .option('--lease-ms <ms>', 'how often identity and store are re-read', wholeNumberOption(10, 600_000), 1_000)
    .option('--execute <namespace>', 'do it: the new namespace once more', textOption)
  shared.addOutputOptions(shared.addDeclarationOptions(command, 'all'))
  command.action(async (options: RebuildCommandOptions) => {
    const settings = rebuildSettings(options, sources)
    const { runRebuild } = await import('../commands/run-rebuild.ts')
    keep(await runRebuild(settings, host))
  })
}

/** Stores whose steps may be made in one of two ways. */
const formed: ReadonlySet<string> = new Set(['redis', 'redis-cluster', 'redis-sentinel'])

function rebuildSettings(options: RebuildCommandOptions, sources: PlaceSources) {
  const { namespace, into, dataPrefix, project, readyTarget, undecodable, data, execute } = options
  const { batchRecords, leaseMs, stallMs, deadlineMs } = options
  const store = readStorePlace(options, sources)
  if (data === 'shared' && options.keepsOldData !== true) {
    throw usage('--data shared keeps whatever the old projection wrote; say --keeps-old-data if that is right')
  }
  if (data === 'new-prefix' && options.keepsOldData === true) {
    throw usage('--keeps-old-data belongs to --data shared')
  }
  if (data === 'new-prefix' && options.newDataPrefix === undefined) {
    throw usage('--data new-prefix needs --new-data-prefix')
  }
  if (store.kind === 'redis-split' && options.form === 'two-step') {
    throw usage('--form two-step does not exist on --redis-data and --redis-checkpoints, whose form is its own')
  }
  if (formed.has(store.kind) && options.form === undefined) {
    throw usage('--form is not given; it decides which writes may exist: atomic or two-step')
  }
  return {
    ...{ namespace, into, dataPrefix, project, readyTarget, undecodable, execute, exportName: options.export },
    ...{ batchRecords, leaseMs, stallMs, deadlineMs, topic: options.topic!, quiet: options.quiet === true },
    newDataPrefix: options.newDataPrefix ?? dataPrefix,
    data: data === 'shared' ? ({ kind: data, keepsOldData: true } as const) : ({ kind: data } as const),
    form: options.form ?? ('atomic' as const),
    log: readLogPlace(options, sources),
    store,
    latestRecordPerKeySuffices: options.latestRecordPerKeySuffices === true,
    dataKeysCarryNoExpiry: options.dataKeysCarryNoExpiry === true,
    limit: shared.shownLimit(options),
  }
}

function usage(reason: string): Error {
  return cliErrors.create('TM_CLI_USAGE', { reason })
}
