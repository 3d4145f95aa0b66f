/**
 * What went wrong with a call of the Bot API:
 * - `unauthorized`: the token is wrong or was revoked.
 * - `conflict`: another poller, or a webhook, takes this bot's updates.
 * - `too_many`: too many requests; `retryAfterMs` says how long to wait where Telegram says it.
 * - `forbidden`: the bot may not write there: it was blocked, kicked, or the account is gone.
 * - `bad_request`: Telegram refused what was asked. With code 404 the server does not know the method.
 * - `too_large`: a file above the limit.
 * - `unreachable`: no answer that means anything: 5xx, garbage, time-out, a cut connection, an aborted call. What was
 *   asked may have been done all the same.
 */
export type BotApiErrorKind =
  | "unauthorized"
  | "conflict"
  | "too_many"
  | "forbidden"
  | "bad_request"
  | "too_large"
  | "unreachable";

/** What a BotApiError is made of. */
export interface BotApiFailure {
  kind: BotApiErrorKind;
  /** Telegram's error_code; null where no answer came that could be read. */
  code: number | null;
  /** In Telegram's words or ours, on one line, without the token. */
  description: string;
  retryAfterMs?: number | null;
  /** The id of the supergroup that this group has become. */
  migrateToChatId?: string;
}

/** A call of the Bot API failed. Neither its message nor any field holds the token or what was sent. */
export class BotApiError extends Error {
  readonly kind: BotApiErrorKind;
  /** Telegram's error_code; null where no answer came that could be read. */
  readonly code: number | null;
  readonly description: string;
  readonly retryAfterMs: number | null;
  declare readonly migrateToChatId?: string;

  constructor(failure: BotApiFailure) {
    super(`Bot API: ${failure.description}`);
    this.name = "BotApiError";
    this.kind = failure.kind;
    this.code = failure.code;
    this.description = failure.description;
    this.retryAfterMs = failure.retryAfterMs ?? null;
    if (failure.migrateToChatId !== undefined) this.migrateToChatId = failure.migrateToChatId;
  }
}
