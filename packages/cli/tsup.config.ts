import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', tidemark: 'src/tidemark.ts' },
  format: ['esm'],
  dts: { entry: { index: 'src/index.ts' }, compilerOptions: { noEmit: false, allowImportingTsExtensions: true } },
  splitting: true,
  clean: true,
  sourcemap: true,
  target: 'node20',
})
