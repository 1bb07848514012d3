/** Why an option is not the caller's to set, and what to do instead. */
export interface OptionRule {
  readonly reason: string
  readonly remedy: string
  /** Values that say what the factory does anyway, and therefore pass. */
  readonly harmless: readonly unknown[]
}

/**
 * Options of the client that would make a confirmed command uncertain, repeat it, or send it elsewhere.
 *
 * Source: ioredis 5.4 and 6.0 (`redis/event_handler`, `Redis.sendCommand`), each effect measured.
 */
export const unsafeOptions: Readonly<Record<string, OptionRule>> = {
  enableOfflineQueue: {
    reason: 'queued commands run later, possibly on another server',
    remedy: 'leave it out, it is false',
    harmless: [false],
  },
  autoResendUnfulfilledCommands: {
    reason: 'a command that ran but whose answer was lost runs again',
    remedy: 'leave it out, it is false',
    harmless: [false],
  },
  reconnectOnError: {
    reason: 'it repeats one command after later ones have run',
    remedy: 'leave it out, errors are returned',
    harmless: [null, false],
  },
  retryStrategy: {
    reason: 'the client would reconnect behind the store, which must re-verify first',
    remedy: 'leave it out, the store opens its own connections',
    harmless: [null],
  },
  maxRetriesPerRequest: {
    reason: 'a repeated request can run twice',
    remedy: 'leave it out, it is 0',
    harmless: [0],
  },
  maxLoadingRetryTime: {
    reason: 'a loading server is reported, not waited for',
    remedy: 'wait before the start',
    harmless: [],
  },
  enableReadyCheck: {
    reason: 'the store runs its own, stricter check',
    remedy: 'leave it out',
    harmless: [false],
  },
  lazyConnect: { reason: 'the store decides when to connect', remedy: 'leave it out, it is true', harmless: [true] },
  keyPrefix: {
    reason: 'it rewrites the keys of the stored format',
    remedy: "use the store's namespace and dataPrefix",
    harmless: [''],
  },
  enableAutoPipelining: {
    reason: 'it changes the order in which commands are sent',
    remedy: 'leave it out, the store batches by itself',
    harmless: [false],
  },
  readOnly: {
    reason: 'it sends commands to replicas',
    remedy: 'connect to the primary',
    harmless: [false],
  },
  role: { reason: 'only a primary keeps what it confirms', remedy: 'connect to the primary', harmless: ['master'] },
  sentinels: {
    reason: 'a failover would change the server under the store',
    remedy: "name the primary's own address",
    harmless: [null],
  },
  replyMapping: { reason: 'replies are checked in one shape', remedy: 'leave it out', harmless: ['legacy'] },
  protocol: { reason: 'replies are checked in the shape of RESP2', remedy: 'leave it out', harmless: [2] },
  stringNumbers: { reason: 'replies are checked in one shape', remedy: 'leave it out', harmless: [false] },
  monitor: { reason: 'a monitoring connection runs no commands', remedy: 'leave it out', harmless: [false] },
  commandTimeout: { reason: 'the deadline of a call has one name', remedy: 'set commandDeadlineMs', harmless: [] },
  Connector: {
    reason: 'another connector may connect anywhere',
    remedy: 'name host and port, or path',
    harmless: [],
  },
}
