import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { findBinary } from '../process/find-binary.ts'

/** The oldest Java that runs the broker. */
export const javaMajorMin = 17

/** The major version in what `java -version` prints, or `undefined`. */
export function javaMajorOf(text: string): number | undefined {
  const match = /version "(\d+)(?:\.(\d+))?/.exec(text)
  if (match === null) return undefined
  return match[1] === '1' ? Number(match[2]) : Number(match[1])
}

/** A Java of at least version 17: the one of JAVA_HOME, else the one on PATH. */
export async function findJava(
  env: Readonly<Record<string, string | undefined>> = process.env,
): Promise<string | undefined> {
  const home = env['JAVA_HOME']
  const named = home === undefined || home === '' ? undefined : findBinary('java', join(home, 'bin'))
  for (const java of [named, findBinary('java', env['PATH'])]) {
    if (java !== undefined && ((await javaMajor(java)) ?? 0) >= javaMajorMin) return java
  }
  return undefined
}

function javaMajor(java: string): Promise<number | undefined> {
  return new Promise((resolve) => {
    execFile(java, ['-version'], { timeout: 20_000 }, (error, stdout, stderr) => {
      resolve(error === null ? javaMajorOf(`${stdout}${stderr}`) : undefined)
    })
  })
}
