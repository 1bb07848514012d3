const finishedFile = /^\s*(\S)\s+\|[\w-]+\|\s+(\S+)\s+\((\d+) tests?(?:[^)]*)\)\s+(?:(\d+)\s*m?s)/

/**
 * Turns what vitest prints of a finished test file into a line that says how far the run is.
 *
 * Shape: a function of a piece of output to the lines it completes; pieces may end anywhere, and lines of other kinds give none.
 */
export function newFileProgress(fileCount) {
  let rest = ''
  let done = 0
  return (piece) => {
    const lines = (rest + piece).split('\n')
    rest = lines.pop()
    return lines.flatMap((line) => {
      const found = finishedFile.exec(line)
      if (found === null) return []
      done += 1
      const [, mark, file, tests, ms] = found
      const failed = mark === '✓' ? '' : ', with failures'
      return [
        `  ${done}/${fileCount} ${file} (${tests} ${tests === '1' ? 'test' : 'tests'}, ${(Number(ms) / 1_000).toFixed(1)} s${failed})`,
      ]
    })
  }
}
