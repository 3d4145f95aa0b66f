/** Limits of the service document (sections 2.1, 4.3 and 8) and of the public contract, in one place. */
export const LIMITS = {
  /** Characters (Unicode code points) of a message's text. */
  textMaxChars: 50_000,
  /** Characters (Unicode code points) of a chat id and of a user id. */
  chatIdMaxChars: 200,
  userIdMaxChars: 200,
  /** Bytes of `meta` as JSON, and how deep it may nest. */
  metaMaxBytes: 64 * 1024,
  metaMaxDepth: 32,
  idempotencyKeyMaxChars: 255,
  /** Bytes of a request body. */
  bodyMaxBytes: 1024 * 1024,
  timeoutMaxMs: 120_000,
  waitMaxMs: 60_000,
  /** Replies and bytes of one drain answer. */
  drainMaxReplies: 100,
  drainMaxBytes: 8 * 1024 * 1024,
  /** Times a message is tried before it becomes a dead letter. */
  maxAttempts: 5,
  /** Requests a minute that a key may make from one address, unless the key has a limit of its own. */
  rateLimitPerMinute: 120,
  /** Requests a minute that a key may make from all addresses together, as a multiple of its limit for one address. */
  rateLimitAddresses: 10,
  /** Requests a minute of one address that may fail for want of a valid key. */
  failedAuthsPerMinute: 30,
} as const;
