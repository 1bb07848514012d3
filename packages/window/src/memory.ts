// Ports of this package in memory, with `durability: 'process'`.
export { createMemoryGenerationRegistry } from './memory/memory-generation-registry.ts'
export type { MemoryGenerationRegistryOptions } from './memory/memory-generation-registry.ts'
