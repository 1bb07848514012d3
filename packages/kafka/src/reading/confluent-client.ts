// The part of the official client's surface that is used, as structural types: the package's own types leave out the
// dependent admin client's identity fields, and a narrow surface shows what a new version may break.

/** The official client's module. */
export interface ConfluentClient {
  readonly KafkaConsumer: new (global: Record<string, unknown>, topic: Record<string, unknown>) => ConfluentConsumer
  readonly AdminClient: { createFrom(existing: ConfluentConsumer): ConfluentAdmin }
}

/** An error of the official client: a librdkafka code and words, never the partition it concerns. */
export interface ConfluentError {
  readonly code: number
  readonly message: string
}

/** A consumer used by pulling; the flowing mode hides errors until it is disconnected. */
export interface ConfluentConsumer {
  connect(options: { readonly timeout: number }, done: (error: ConfluentError | null | undefined) => void): void
  disconnect(done: () => void): void
  assign(partitions: readonly ConfluentPosition[]): void
  consume(
    messagesMax: number,
    done: (error: ConfluentError | null | undefined, messages: ConfluentMessage[] | undefined) => void,
  ): void
  setDefaultConsumeTimeout(timeoutMs: number): void
  pause(partitions: readonly ConfluentPartition[]): void
  resume(partitions: readonly ConfluentPartition[]): void
  on(event: 'partition.eof', listener: (event: ConfluentPosition) => void): void
  on(event: 'connection.failure', listener: () => void): void
  on(event: 'event.error' | 'warning' | 'error', listener: (error: ConfluentError) => void): void
  on(event: 'event.stats', listener: (event: { readonly message: string }) => void): void
  on(event: 'event.throttle', listener: (event: { readonly throttleTime: number }) => void): void
  on(event: 'event.log', listener: (event: { readonly fac: string; readonly message: string }) => void): void
}

/** One partition of a topic. */
export interface ConfluentPartition {
  readonly topic: string
  readonly partition: number
}

/** A position in a partition; offsets are JavaScript numbers in this client. */
export interface ConfluentPosition extends ConfluentPartition {
  readonly offset: number
}

/** A record as the client hands it over. */
export interface ConfluentMessage extends ConfluentPosition {
  readonly key: Uint8Array | null
  readonly value: Uint8Array | null
  readonly timestamp?: number
  readonly leaderEpoch?: number
  readonly headers?: readonly object[]
}

/** An admin client on the connections of a consumer. */
export interface ConfluentAdmin {
  describeTopics(
    topics: readonly string[],
    options: { timeout: number },
    done: (error: ConfluentError | null | undefined, topics: readonly ConfluentTopic[] | undefined) => void,
  ): void
}

/** What a broker told the client about a topic. */
export interface ConfluentTopic {
  readonly name: string
  readonly error?: ConfluentError
  readonly topicId?: { readonly base64?: string }
  readonly partitions: readonly { readonly partition: number; readonly leader?: { readonly id: number } | null }[]
}
