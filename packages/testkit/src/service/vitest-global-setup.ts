import { appendFileSync } from 'node:fs'
import { openSharedServices, sharedServicesVariable } from './shared-services.ts'

/** The part of vitest's project that is used here; typed by shape, so that the package does not depend on vitest. */
interface ProvidingProject {
  provide(key: never, value: never): void
}

/**
 * Opens the shared services before the first service test and closes them after the last.
 *
 * Workers find them by environment (`sharedKafkaBrokers()`, `sharedRedisUrl()`), tests also by `inject('tidemarkSharedServices')`.
 * With TIDEMARK_BACKENDS_FILE set, a JSON line per service that was really used is appended to it.
 */
export default async function setup(project: ProvidingProject): Promise<() => Promise<void>> {
  const services = await openSharedServices()
  process.env[sharedServicesVariable] = services.url
  project.provide('tidemarkSharedServices' as never, services.url as never)
  return async () => {
    const file = process.env['TIDEMARK_BACKENDS_FILE']
    if (file !== undefined && file !== '') {
      const lines = services.used().map(({ service, backend }) => `${JSON.stringify({ service, backend })}\n`)
      appendFileSync(file, lines.join(''))
    }
    await services.close()
  }
}
