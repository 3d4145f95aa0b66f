import { DeliveryError } from "@svc/contracts";
import type { DeliveryErrorKind } from "@svc/contracts";
import type { Log } from "@svc/log";
import { BotApiError } from "../telegram/bot-api-error.ts";
import type { BotApiErrorKind } from "../telegram/bot-api-error.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import type { Pace } from "./create-pace.ts";
import type { Position } from "./find-target.ts";

/** A message that is on its way gets so long after the end was asked for: broken off, it would be sent again. */
const GRACE_MS = 2_000;

/** Runs `work` with a signal that is aborted some time after one of `signals` is. Leaves nothing behind. */
export async function cutAfterGrace<Result>(
  signals: readonly (AbortSignal | undefined)[],
  work: (signal: AbortSignal) => Promise<Result>,
  graceMs = GRACE_MS,
): Promise<Result> {
  const controller = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  const endSoon = () => {
    timer ??= setTimeout(() => controller.abort(), graceMs);
  };
  for (const signal of signals) {
    if (signal?.aborted ?? false) endSoon();
    signal?.addEventListener("abort", endSoon, { once: true });
  }
  try {
    return await work(controller.signal);
  } finally {
    clearTimeout(timer);
    for (const signal of signals) signal?.removeEventListener("abort", endSoon);
  }
}

const ERRORS = {
  unauthorized: "later",
  conflict: "later",
  too_many: "later",
  unreachable: "later",
  forbidden: "closed",
  bad_request: "refused",
  too_large: "refused",
} as const satisfies Record<BotApiErrorKind, DeliveryErrorKind>;

/** What Telegram says of chats that are gone, where it does not answer 403. */
const GONE =
  /chat not found|user not found|user is deactivated|bot was (?:blocked|kicked)|chat was (?:deactivated|deleted|upgraded)|PEER_ID_INVALID|USER_IS_BLOCKED|INPUT_USER_DEACTIVATED/i;

/** True where Telegram says that it takes nothing for this chat any more. */
const isGone = (error: BotApiError): boolean =>
  error.kind === "forbidden" || (error.kind === "bad_request" && GONE.test(error.description));

/** What becomes of a reply by why a call failed. */
export function deliveryErrorOf(error: BotApiError): DeliveryError {
  const problem = isGone(error) ? "closed" : ERRORS[error.kind];
  return new DeliveryError(problem, `Telegram: ${error.description}`, {
    retryAfterMs: error.retryAfterMs,
    cause: error,
  });
}

/** One message, as a method of the Bot API and what it takes besides where it goes. */
export interface Sending {
  method: string;
  payload: object;
  timeoutMs?: number;
}

/**
 * Sends one message at the pace that Telegram allows. A group that has become a supergroup is written to there; a topic
 * or a quoted message that is gone is left out.
 *
 * @throws BotApiError when Telegram refused what was sent, so that it may be sent in another form.
 * @throws DeliveryError for all else that can go wrong.
 */
export type SendInChat = (position: Position, sending: Sending, call?: SendCall) => Promise<void>;

/** What goes with the sending of a message. */
export interface SendCall {
  signal?: AbortSignal | undefined;
  /** Notes that it is sent, before any other message of the bot goes. */
  note?: (() => Promise<void>) | undefined;
}

/** Failures that another form of the same message may avoid. */
const OF_THE_FORM = new Set<BotApiErrorKind>(["bad_request", "too_large"]);

/** What Telegram says of a topic, or of a quoted message, that is gone. */
const GONE_TOPIC = /message thread|topic_|topic (?:is|was)/i;
const GONE_QUOTE = /message to (?:be replied|reply)|replied message|reply_/i;

/** Where Telegram wants a pause and does not say how long. */
const PAUSE_MS = 5_000;

/** Makes the function that all messages of a bot go through. */
export function createChatCaller(
  { api, pace, log }: { api: BotApi; pace: Pace; log: Log },
  stopping: AbortSignal,
): SendInChat {
  /** Groups that have become supergroups. Lost with the process: it costs one call then. */
  const moved = new Map<string, string>();

  async function sendOnce(position: Position, sending: Sending, { signal, note }: SendCall): Promise<void> {
    const chatId = moved.get(position.chatId) ?? position.chatId;
    const payload = { chat_id: chatId, ...sending.payload, ...placing(position) };
    const options = sending.timeoutMs === undefined ? {} : { timeoutMs: sending.timeoutMs };
    try {
      await pace.run(
        chatId,
        async () =>
          await cutAfterGrace([signal, stopping], (cut) =>
            api.call(sending.method, payload, { ...options, signal: cut }),
          ),
        signal,
        note,
      );
    } catch (error) {
      if (error instanceof BotApiError && error.kind === "too_many") pace.pause(chatId, error.retryAfterMs ?? PAUSE_MS);
      throw error;
    }
  }

  return async function sendInChat(position, sending, call = {}) {
    const tries: Position[] = [position];
    for (let next = tries.pop(); next !== undefined; next = tries.pop()) {
      try {
        await sendOnce(next, sending, call);
        return;
      } catch (error) {
        if (!(error instanceof BotApiError)) throw error;
        const other = adapt(next, error, moved);
        log.debug({ method: sending.method, code: error.code, description: error.description }, "a call failed");
        if (other !== null) tries.push(other);
        else if (OF_THE_FORM.has(error.kind) && !isGone(error)) throw error;
        else throw deliveryErrorOf(error);
      }
    }
  };
}

function placing({ threadId, replyToMessageId }: Position): object {
  return {
    ...(threadId === null ? {} : { message_thread_id: threadId }),
    ...(replyToMessageId === null
      ? {}
      : { reply_parameters: { message_id: replyToMessageId, allow_sending_without_reply: true } }),
  };
}

/** The place without what Telegram has complained about; null where the failure is about something else. */
function adapt(position: Position, error: BotApiError, moved: Map<string, string>): Position | null {
  if (error.migrateToChatId !== undefined && !moved.has(position.chatId)) {
    moved.set(position.chatId, error.migrateToChatId);
    // Messages of the group have other numbers there.
    return { ...position, replyToMessageId: null };
  }
  if (error.kind !== "bad_request") return null;
  if (position.threadId !== null && GONE_TOPIC.test(error.description)) return { ...position, threadId: null };
  if (position.replyToMessageId !== null && GONE_QUOTE.test(error.description)) {
    return { ...position, replyToMessageId: null };
  }
  return null;
}
