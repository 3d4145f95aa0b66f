/** A server or a model that gave no usable embeddings: `message` says why, in words for a log, without any key. */
export class EmbeddingError extends Error {
  /** True when the endpoint works and does not take these texts, most likely because one is too long. */
  readonly isRefusal: boolean;
  /** How long the endpoint asks to be left alone, or null. */
  readonly retryAfterMs: number | null;

  constructor(message: string, options: { isRefusal?: boolean; retryAfterMs?: number | null; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = "EmbeddingError";
    this.isRefusal = options.isRefusal ?? false;
    this.retryAfterMs = options.retryAfterMs ?? null;
  }
}
