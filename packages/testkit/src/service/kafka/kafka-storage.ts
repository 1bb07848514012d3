import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { serviceErrors } from '../errors.ts'

/** A random id as Kafka spells it: 16 bytes in URL-safe base64 that does not begin with a dash (its tools would take it for an option). */
export function newKafkaUuid(): string {
  for (;;) {
    const id = randomBytes(16).toString('base64url')
    if (!id.startsWith('-')) return id
  }
}

/** What Kafka's formatter needs. */
export interface FormatOptions {
  readonly java: string
  readonly libraries: string
  readonly clusterId: string
  /** Of the first node. */
  readonly propertiesFile: string
  readonly dataDirectories: readonly { readonly nodeId: number; readonly directory: string }[]
}

/**
 * Formats the data directories of a new cluster.
 *
 * Cost: one JVM (about 1.5 s) for the first node; the other nodes get a copy with their own node and directory id.
 */
export async function formatKafkaStorage(options: FormatOptions): Promise<void> {
  const [first, ...others] = options.dataDirectories
  if (first === undefined) return
  await runFormatter(options)
  const meta = readFileSync(join(first.directory, 'meta.properties'), 'utf8')
  for (const { nodeId, directory } of others) {
    mkdirSync(directory, { recursive: true })
    cpSync(first.directory, directory, { recursive: true })
    writeFileSync(join(directory, 'meta.properties'), metaOf(meta, nodeId, newKafkaUuid()))
  }
}

function metaOf(meta: string, nodeId: number, directoryId: string): string {
  return meta
    .replace(/^node\.id=.*$/m, `node.id=${nodeId}`)
    .replace(/^directory\.id=.*$/m, `directory.id=${directoryId}`)
}

function runFormatter(options: FormatOptions): Promise<void> {
  const args = ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-XX:+UseSerialGC', '-cp', join(options.libraries, '*')]
  const command = ['kafka.tools.StorageTool', 'format', '-t', options.clusterId, '-c', options.propertiesFile]
  return new Promise((resolve, reject) => {
    execFile(options.java, [...args, ...command], { timeout: 60_000 }, (error, stdout, stderr) => {
      if (error === null) return resolve()
      const details = {
        service: 'Kafka storage format',
        exit: error.message.split('\n')[0]!,
        log: `\n${stdout}${stderr}`.slice(-2_000),
      }
      reject(serviceErrors.create('TM_SERVICE_DIED', details, { cause: error }))
    })
  })
}
