import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    'checkpoint/index': 'src/checkpoint/index.ts',
    'pg/index': 'src/pg/index.ts',
    'pglite/index': 'src/pglite/index.ts',
  },
  format: ['esm'],
  dts: { compilerOptions: { noEmit: false, allowImportingTsExtensions: true } },
  splitting: true,
  clean: true,
  sourcemap: true,
  target: 'node20',
})
