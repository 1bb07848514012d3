import { spawn } from 'node:child_process'
import { childEnvironment } from '../plan/child-environment.mjs'

const outputMax = 4_000_000
const running = new Set()
let hooked = false

/**
 * Runs a command to its end and never throws for its failure.
 *
 * Shape: { code, signal, output, stdout, durationMs, timedOut, missing }; `output` is stdout and stderr as they came, the
 * beginning cut off past 4 MB.
 * Promises: it runs in a process group of its own, which is ended as a whole on the time-out and when this process is told to end.
 */
export function runCommand(command, args, options = {}) {
  const { cwd, env = {}, timeoutMs = 600_000, echo = false, input, onOutput, onError } = options
  hookSignals()
  const from = performance.now()
  return new Promise((resolve) => {
    let output = ''
    let stdout = ''
    let timedOut = false
    const child = spawn(command, args, {
      cwd,
      env: childEnvironment(process.env, env),
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      detached: true,
    })
    running.add(child)
    const timer = setTimeout(() => {
      timedOut = true
      endGroup(child, 'SIGTERM')
      setTimeout(() => endGroup(child, 'SIGKILL'), 5_000).unref()
    }, timeoutMs)
    const finish = (code, signal, missing) => {
      clearTimeout(timer)
      running.delete(child)
      resolve({ code, signal, output, stdout, durationMs: performance.now() - from, timedOut, missing })
    }
    if (input !== undefined) child.stdin.end(input)
    child.stdout.on('data', (data) => {
      output = (output + data).slice(-outputMax)
      stdout = (stdout + data).slice(-outputMax)
      if (echo) process.stdout.write(data)
      onOutput?.(data)
    })
    child.stderr.on('data', (data) => {
      output = (output + data).slice(-outputMax)
      if (echo) process.stderr.write(data)
      onError?.(data)
    })
    child.once('error', (error) => {
      output += error.message
      finish(null, null, error.code === 'ENOENT')
    })
    child.once('close', (code, signal) => finish(code, signal, false))
  })
}

/** Runs a Node program, with this Node unless another is named. */
export function runNode(args, options = {}) {
  return runCommand(options.node ?? process.execPath, args, options)
}

/** The last lines of an output, for a person. */
export function tailOf(output, lines = 40) {
  return output.trimEnd().split('\n').slice(-lines).join('\n')
}

function endGroup(child, signal) {
  try {
    process.kill(-child.pid, signal)
  } catch {
    // It has ended by itself.
  }
}

function hookSignals() {
  if (hooked) return
  hooked = true
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ]) {
    process.once(signal, () => {
      for (const child of running) endGroup(child, 'SIGTERM')
      setTimeout(() => {
        for (const child of running) endGroup(child, 'SIGKILL')
        process.exit(code)
      }, 3_000)
    })
  }
}
