/** Parameters of an error response (https://core.telegram.org/bots/api#responseparameters). */
export interface RefusalParameters {
  retry_after?: number;
  migrate_to_chat_id?: number;
}

/** A call that the fake Bot API rejects, with the message of the real one. */
export class BotApiRefusal extends Error {
  /** HTTP status and `error_code`. */
  readonly code: number;
  readonly parameters: RefusalParameters | undefined;

  constructor(code: number, description: string, parameters?: RefusalParameters) {
    super(description);
    this.name = "BotApiRefusal";
    this.code = code;
    this.parameters = parameters;
  }
}

/** Returns the 400 of an invalid call. */
export const badRequest = (what: string): BotApiRefusal => new BotApiRefusal(400, `Bad Request: ${what}`);

/** Returns the 429 of too many messages, with the seconds to wait. */
export const tooManyRequests = (retryAfterS: number): BotApiRefusal =>
  new BotApiRefusal(429, `Too Many Requests: retry after ${retryAfterS}`, { retry_after: retryAfterS });
