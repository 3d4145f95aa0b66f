/** Limits of the service document (sections 2.1, 4.3 and 8) and of the public contract. */
export const LIMITS = {
  /** Maximum characters (Unicode code points) of a message's text. */
  textMaxChars: 50_000,
  /** Maximum characters (Unicode code points) of a chat ID and of a user ID. */
  chatIdMaxChars: 200,
  userIdMaxChars: 200,
  /** Maximum bytes of `meta` as JSON, and its maximum nesting depth. */
  metaMaxBytes: 64 * 1024,
  metaMaxDepth: 32,
  idempotencyKeyMaxChars: 255,
  /** Maximum bytes of a request body. */
  bodyMaxBytes: 1024 * 1024,
  timeoutMaxMs: 120_000,
  waitMaxMs: 60_000,
  /** Maximum number and bytes of replies in one response of a drain. */
  drainMaxReplies: 100,
  drainMaxBytes: 8 * 1024 * 1024,
  /** Number of attempts to process a message before it becomes a dead letter. */
  maxAttempts: 5,
  /** Default rate limit of a key: requests per minute from one address. */
  rateLimitPerMinute: 120,
  /** Rate limit of a key from all addresses together, as a multiple of its limit for one address. */
  rateLimitAddresses: 10,
  /** Maximum number of failed authentications per minute from one address. */
  failedAuthsPerMinute: 30,
} as const;
