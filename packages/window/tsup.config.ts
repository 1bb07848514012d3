import { defineConfig } from 'tsup'

export default defineConfig({
  entry: { index: 'src/index.ts', memory: 'src/memory.ts' },
  format: ['esm'],
  dts: { compilerOptions: { noEmit: false, allowImportingTsExtensions: true } },
  splitting: true,
  clean: true,
  sourcemap: true,
  target: 'node20',
})
