#!/usr/bin/env node
// The program: gives the process to the command, and takes its exit code.
import { INTERRUPTED, runTidemark } from './run-tidemark.ts'

const interruption = new AbortController()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    // The second one does not wait for a service.
    if (interruption.signal.aborted) process.exit(INTERRUPTED)
    interruption.abort()
  })
}
// A reader such as `head` that has seen enough is no fault.
process.stdout.on('error', () => process.exit(process.exitCode ?? 0))

const terminal = (stream: NodeJS.WriteStream) => ({
  write: (text: string) => void stream.write(text),
  isTTY: stream.isTTY === true,
  columns: stream.columns as number | undefined,
})

process.exitCode = await runTidemark({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdout: terminal(process.stdout),
  stderr: terminal(process.stderr),
  signal: interruption.signal,
})
// What a client leaves open must not hold up the end; what was written is written first.
process.stdout.write('', () => process.stderr.write('', () => process.exit()))
