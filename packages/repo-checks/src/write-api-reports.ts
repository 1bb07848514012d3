// Run as a program after the build: `npm run api`. Writes the report of every entry point, and removes those of none.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { apiReports } from './api-report.ts'
import { filesUnder, root, workspacePackages } from './workspace.ts'

const reports = apiReports(workspacePackages().filter(({ manifest }) => manifest.private !== true))
const wanted = new Set(reports.map(({ file }) => file))
for (const file of filesUnder('packages').filter((each) => each.endsWith('.api.md') && !wanted.has(each))) {
  rmSync(join(root, file))
  process.stdout.write(`removed ${file}\n`)
}
for (const { file, text } of reports) {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), text)
}
process.stdout.write(`${reports.length} reports written; \`git diff packages/*/api\` shows what changed for users\n`)
