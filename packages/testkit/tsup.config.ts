import { defineConfig } from 'tsup'

export default defineConfig({
  entry: {
    'contract/index': 'src/contract/index.ts',
    'arbitrary/index': 'src/arbitrary/index.ts',
    'oracle/index': 'src/oracle/index.ts',
    'sim/index': 'src/sim/index.ts',
    'service/index': 'src/service/index.ts',
  },
  format: ['esm'],
  dts: { compilerOptions: { noEmit: false, allowImportingTsExtensions: true } },
  splitting: true,
  clean: true,
  sourcemap: true,
  target: 'node20',
})
