import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

interface Options {
  offline: boolean
  size: string
  only?: string
  newerNode?: boolean
}
const { filesOfStage, kindOfTestFile, planStages } = await loadScript<{
  kindOfTestFile(file: string): string | undefined
  planStages(options: Options): { name: string; timeoutMs: number }[]
  filesOfStage(stage: { name: string }, files: readonly { file: string; kind: string }[]): string[]
}>('plan/test-stages')
const { parseCommandLine } = await loadScript<{
  parseCommandLine(
    args: string[],
    known: string[],
    wordsMax?: number,
  ): { flags: Record<string, unknown>; words: string[] }
}>('plan/command-line')

const names = (options: Options): string[] => planStages(options).map(({ name }) => name)

describe('planStages', () => {
  it('runs everything, cheap and telling stages first', () => {
    expect(names({ offline: false, size: 'ci' })).toEqual([
      'format',
      'lint',
      'types',
      'unit',
      'property',
      'build',
      'package',
      'sim',
      'service',
      'example',
    ])
  })

  it('leaves out the service stage only when told to be offline', () => {
    expect(names({ offline: true, size: 'ci' })).not.toContain('service')
    expect(names({ offline: true, size: 'ci', only: 'unit,sim' })).toEqual(['unit', 'sim'])
  })

  it('runs the pure kinds once more on a newer Node when told to', () => {
    const all = names({ offline: false, size: 'ci', newerNode: true })
    expect(all.slice(-3)).toEqual(['unit-node24', 'property-node24', 'sim-node24'])
    expect(names({ offline: false, size: 'ci', only: 'unit', newerNode: true })).toEqual(['unit'])
  })

  it('runs the checks of the house on one Node only', () => {
    const files = [
      { file: 'packages/repo-checks/test/names.test.ts', kind: 'unit' },
      { file: 'packages/core/test/offset.test.ts', kind: 'unit' },
      { file: 'packages/core/test/offset.sim.test.ts', kind: 'sim' },
    ]
    const filesOf = (newerNode: boolean, only: string) =>
      filesOfStage(planStages({ offline: false, size: 'ci', only, newerNode })[0]!, files)
    expect(filesOf(false, 'unit')).toEqual([
      'packages/repo-checks/test/names.test.ts',
      'packages/core/test/offset.test.ts',
    ])
    expect(filesOf(true, 'unit-node24')).toEqual(['packages/core/test/offset.test.ts'])
    expect(filesOf(true, 'sim-node24')).toEqual(['packages/core/test/offset.sim.test.ts'])
  })

  it('gives the full size more time', () => {
    const [ci] = planStages({ offline: false, size: 'ci', only: 'sim' })
    const [full] = planStages({ offline: false, size: 'full', only: 'sim' })
    expect(full!.timeoutMs).toBeGreaterThan(ci!.timeoutMs)
  })

  it('refuses a size or a stage it does not know', () => {
    expect(() => planStages({ offline: false, size: 'big' })).toThrow(/ci or full/)
    expect(() => planStages({ offline: false, size: 'ci', only: 'units' })).toThrow(/the stages are/)
  })
})

describe('kindOfTestFile', () => {
  it.each([
    ['a.test.ts', 'unit'],
    ['a.property.test.ts', 'property'],
    ['deep/a.sim.test.ts', 'sim'],
    ['a.package.test.ts', 'package'],
    ['a.service.test.ts', 'service'],
    ['a.ts', undefined],
    ['a.test.ts.snap', undefined],
  ])('%s => %s', (file, kind) => {
    expect(kindOfTestFile(file)).toBe(kind)
  })
})

describe('parseCommandLine', () => {
  it('splits words, flags and values', () => {
    expect(parseCommandLine(['A5', '--full', '--size=ci'], ['full', 'size'])).toEqual({
      flags: { full: true, size: 'ci' },
      words: ['A5'],
    })
  })

  it('refuses an unknown flag, so that a typing error never runs something else', () => {
    expect(() => parseCommandLine(['--offlin'], ['offline'])).toThrow(/unknown flag --offlin; known: --offline/)
    expect(() => parseCommandLine(['-offline'], ['offline'])).toThrow(/unknown flag -offline/)
  })

  it('refuses a word too many, which would be passed over in silence', () => {
    expect(parseCommandLine(['A1'], [], 1).words).toEqual(['A1'])
    expect(() => parseCommandLine(['A1', 'A2'], [], 1)).toThrow(/unexpected A2; it takes one word/)
    expect(() => parseCommandLine(['unit'], [], 0)).toThrow(/unexpected unit; it takes no word/)
  })
})
