import type { BotApiError, BotApiErrorKind } from "../telegram/bot-api-error.ts";

/** What keeps a bot from its work, since when. */
export interface BotFault {
  kind: BotApiErrorKind;
  /** For operators, without secrets. */
  text: string;
}

const EXPLANATIONS: Readonly<Record<BotApiErrorKind, (since: string, description: string) => string>> = {
  unauthorized: (since) =>
    `Telegram rejects the bot token (unauthorized since ${since}). Get a token from @BotFather and set it: svc channels set messenger botToken=…`,
  conflict: (since) =>
    `Another program also receives this bot's messages (conflict since ${since}). Stop it, or get a new token from @BotFather. Until then, messages may be lost to that program.`,
  too_many: (since) => `Telegram rate limit: waiting before messages are fetched again (since ${since}).`,
  forbidden: (since, description) => `The Bot API has rejected requests for messages since ${since}: ${description}`,
  bad_request: (since, description) => `The Bot API has rejected requests for messages since ${since}: ${description}`,
  too_large: (since, description) => `The Bot API has rejected requests for messages since ${since}: ${description}`,
  unreachable: (since) =>
    `The Bot API has been unreachable since ${since}. Telegram keeps messages for one day. Check SVC_TELEGRAM_API_ROOT and the network.`,
};

/** These come and go by themselves; one alone is no news. */
const PASSING: readonly BotApiErrorKind[] = ["conflict", "unreachable", "too_many"];

/** Keeps what is wrong with a bot from one call to the next. */
export function createFaultKeeper() {
  let fault: BotFault | null = null;
  let failures = 0;
  let since = new Date();
  return {
    find: (): BotFault | null => fault,

    /** How often calls have failed in a row. */
    failures: (): number => failures,

    /** A call has failed. Shown at once, or from the second time on where it may pass by itself. */
    fail({ kind, description }: Pick<BotApiError, "kind" | "description">): void {
      failures++;
      if (failures === 1) since = new Date();
      if (failures === 1 && PASSING.includes(kind)) return;
      if (fault?.kind === kind) return;
      const at = (fault === null ? since : new Date()).toISOString().slice(0, 19);
      fault = { kind, text: EXPLANATIONS[kind](`${at}Z`, description) };
    },

    succeed(): void {
      fault = null;
      failures = 0;
    },
  };
}

export type FaultKeeper = ReturnType<typeof createFaultKeeper>;
