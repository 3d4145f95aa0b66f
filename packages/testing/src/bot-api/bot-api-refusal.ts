/** What a refusal says besides its text (https://core.telegram.org/bots/api#responseparameters). */
export interface RefusalParameters {
  retry_after?: number;
  migrate_to_chat_id?: number;
}

/** A call that the fake Bot API refuses, in the words of the real one. */
export class BotApiRefusal extends Error {
  /** HTTP status and `error_code` alike. */
  readonly code: number;
  readonly parameters: RefusalParameters | undefined;

  constructor(code: number, description: string, parameters?: RefusalParameters) {
    super(description);
    this.name = "BotApiRefusal";
    this.code = code;
    this.parameters = parameters;
  }
}

/** A call that makes no sense as it is: 400. */
export const badRequest = (what: string): BotApiRefusal => new BotApiRefusal(400, `Bad Request: ${what}`);

/** Too much was sent: 429, with the seconds to wait. */
export const tooManyRequests = (retryAfterS: number): BotApiRefusal =>
  new BotApiRefusal(429, `Too Many Requests: retry after ${retryAfterS}`, { retry_after: retryAfterS });
