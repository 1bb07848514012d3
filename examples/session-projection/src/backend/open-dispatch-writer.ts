import type { DispatchWriter, DispatchWriterOptions } from './dispatch-writer.ts'

/** Connects a writer, or says within the deadline why not. */
export async function openDispatchWriter(options: DispatchWriterOptions): Promise<DispatchWriter> {
  const { place } = options
  return place.kind === 'kafka'
    ? (await import('./kafka-dispatch-writer.ts')).openKafkaDispatchWriter({ ...options, place })
    : (await import('./embedded-dispatch-writer.ts')).openEmbeddedDispatchWriter({ ...options, place })
}
