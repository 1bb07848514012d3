import { defineConfig } from 'vitest/config'
import type { ViteUserConfig } from 'vitest/config'

const root = import.meta.dirname

/**
 * Workspace packages resolve to their TypeScript source, so tests need no build.
 *
 * `import` and `require` are added where each is due; said here, a CommonJS package would be given the ES modules of another.
 */
const conditions = ['@tidemark/source', 'node']

/** One project per kind of test; the file suffix is the kind. */
function project(name: string, suffix: string, test: NonNullable<ViteUserConfig['test']> = {}) {
  const include = ['packages', 'examples'].map((folder) => `${folder}/*/test/**/*.${suffix}.ts`)
  return {
    root,
    resolve: { conditions },
    ssr: { resolve: { conditions, externalConditions: conditions } },
    // Global set-up files run in an environment of their own, which takes no conditions from the two above.
    environments: { __vitest__: { resolve: { conditions } } },
    test: { name, root, include, exclude: ['**/node_modules/**', '**/dist/**'], ...test },
  }
}

const unitExclude = ['property', 'package', 'sim', 'service'].map((kind) => `**/*.${kind}.test.ts`)

const config: ViteUserConfig = defineConfig({
  root,
  test: {
    projects: [
      project('unit', 'test', { exclude: ['**/node_modules/**', '**/dist/**', ...unitExclude], testTimeout: 30_000 }),
      project('property', 'property.test', { testTimeout: 600_000 }),
      // On what was built and packed; `npm run build` comes first.
      project('package', 'package.test', { testTimeout: 180_000, hookTimeout: 180_000 }),
      project('sim', 'sim.test', { testTimeout: 600_000 }),
      project('service', 'service.test', {
        testTimeout: 180_000,
        hookTimeout: 180_000,
        // One broker and one Redis serve the whole run; files take turns so that two cores stay honest about time-outs.
        fileParallelism: false,
        globalSetup: [`${root}/packages/testkit/src/service/vitest-global-setup.ts`],
      }),
    ],
  },
})

export default config
