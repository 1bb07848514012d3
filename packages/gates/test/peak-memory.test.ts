import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'

const run = promisify(execFile)
const source = new URL('../bench/checkpoint/peak-memory.ts', import.meta.url).href
const program = `const { peakMegabytes } = await import(${JSON.stringify(source)}); console.log(peakMegabytes())`

it('the peak of a process is its own, not that of the larger one that started it', async () => {
  const held = Buffer.alloc(400 * 2 ** 20, 1)
  expect(process.resourceUsage().maxRSS / 1_024).toBeGreaterThan(400)
  const { stdout } = await run(process.execPath, ['--import', 'tsx', '--input-type=module', '--eval', program])
  expect(Number(stdout)).toBeGreaterThan(20)
  expect(Number(stdout)).toBeLessThan(300)
  expect(held.at(-1)).toBe(1)
})
