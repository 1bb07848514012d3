import { describe, expect, it } from 'vitest'
import { loadScript } from './load-script.ts'

const { newFileProgress } = await loadScript<{
  newFileProgress(fileCount: number): (piece: string) => string[]
}>('plan/file-progress')

describe('newFileProgress', () => {
  it('tells every finished file once, however the output is cut', () => {
    const output = [
      ' RUN  v4.1.12',
      ' ✓ |service| packages/a/test/one.service.test.ts (12 tests) 3046ms',
      '     ✓ [A5] a test that took long (12 tests)  900ms',
      ' ❯ |service| packages/b/test/two.service.test.ts (3 tests | 1 failed) 41ms',
      '   × [A6] a failed test 12ms',
      ' ✓ |service| packages/c/test/three.service.test.ts (1 test | 1 skipped) 5ms',
      '',
    ].join('\n')
    const lines = [
      '  1/3 packages/a/test/one.service.test.ts (12 tests, 3.0 s)',
      '  2/3 packages/b/test/two.service.test.ts (3 tests, 0.0 s, with failures)',
      '  3/3 packages/c/test/three.service.test.ts (1 test, 0.0 s)',
    ]
    expect(newFileProgress(3)(output)).toEqual(lines)
    const inPieces = newFileProgress(3)
    expect([...output].flatMap((character) => inPieces(character))).toEqual(lines)
  })
})
