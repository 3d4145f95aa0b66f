import { DeliveryError } from "@svc/contracts";
import type { DeliveryErrorKind } from "@svc/contracts";
import type { Log } from "@svc/log";
import { BotApiError } from "../telegram/bot-api.ts";
import type { BotApi, BotApiErrorKind } from "../telegram/bot-api.ts";
import type { Position, Throttle } from "./create-throttle.ts";

/** Time that a message in flight gets during shutdown: an aborted one would be sent again. */
const GRACE_MS = 2_000;

/** Runs `work` with a signal that is aborted some time after one of `signals` is. Leaves nothing behind. */
export async function abortAfterGrace<Result>(
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

/** Descriptions of errors for deleted chats, to which Telegram does not respond with 403. */
const UNAVAILABLE_CHAT =
  /chat not found|user not found|user is deactivated|bot was (?:blocked|kicked)|chat was (?:deactivated|deleted|upgraded)|PEER_ID_INVALID|USER_IS_BLOCKED|INPUT_USER_DEACTIVATED/i;

/** Returns true if Telegram accepts no more messages for this chat. */
const isUnavailableChat = (error: BotApiError): boolean =>
  error.kind === "forbidden" || (error.kind === "bad_request" && UNAVAILABLE_CHAT.test(error.description));

/** Returns the delivery error for a failed call. */
export function deliveryErrorOf(error: BotApiError): DeliveryError {
  const problem = isUnavailableChat(error) ? "closed" : ERRORS[error.kind];
  return new DeliveryError(problem, `Telegram: ${error.description}`, {
    retryAfterMs: error.retryAfterMs,
    cause: error,
  });
}

/** One message: a method of the Bot API and its parameters without the destination. */
export interface Sending {
  method: string;
  payload: object;
  timeoutMs?: number;
}

/**
 * Sends one message, throttled to Telegram's rate limits. A message for a group that has become a supergroup is sent
 * there; a topic or quoted message that no longer exists is omitted.
 * @throws BotApiError if Telegram rejects the content, so that it may be sent in another form.
 * @throws DeliveryError for any other error.
 */
export type SendInChat = (position: Position, sending: Sending, call?: SendCall) => Promise<void>;

/** Options of sending a message. */
export interface SendCall {
  signal?: AbortSignal | undefined;
  /** Records that the message was sent, before the bot sends another one. */
  note?: (() => Promise<void>) | undefined;
}

/** Errors that another form of the same message may avoid. */
const FORM_ERRORS = new Set<BotApiErrorKind>(["bad_request", "too_large"]);

/** Descriptions of errors for a topic, or a quoted message, that no longer exists. */
const MISSING_TOPIC = /message thread|topic_|topic (?:is|was)/i;
const GONE_QUOTE = /message to (?:be replied|reply)|replied message|reply_/i;

/** Pause if Telegram requests one without a duration. */
const PAUSE_MS = 5_000;

/** Creates the function that sends all messages of a bot. */
export function createChatCaller(
  { api, throttle, log }: { api: BotApi; throttle: Throttle; log: Log },
  stopping: AbortSignal,
): SendInChat {
  /** Groups that have become supergroups. Not stored: after a restart it costs one extra call. */
  const moved = new Map<string, string>();

  async function sendOnce(position: Position, sending: Sending, { signal, note }: SendCall): Promise<void> {
    const chatId = moved.get(position.chatId) ?? position.chatId;
    const payload = { chat_id: chatId, ...sending.payload, ...placing(position) };
    const options = sending.timeoutMs === undefined ? {} : { timeoutMs: sending.timeoutMs };
    try {
      await throttle.run(
        chatId,
        async () =>
          await abortAfterGrace([signal, stopping], (cut) =>
            api.call(sending.method, payload, { ...options, signal: cut }),
          ),
        signal,
        note,
      );
    } catch (error) {
      if (error instanceof BotApiError && error.kind === "too_many")
        throttle.pause(chatId, error.retryAfterMs ?? PAUSE_MS);
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
        else if (FORM_ERRORS.has(error.kind) && !isUnavailableChat(error)) throw error;
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

/** Returns the destination without the part that Telegram rejected; null if the error has another cause. */
function adapt(position: Position, error: BotApiError, moved: Map<string, string>): Position | null {
  if (error.migrateToChatId !== undefined && !moved.has(position.chatId)) {
    moved.set(position.chatId, error.migrateToChatId);
    // Messages have other IDs in the supergroup.
    return { ...position, replyToMessageId: null };
  }
  if (error.kind !== "bad_request") return null;
  if (position.threadId !== null && MISSING_TOPIC.test(error.description)) return { ...position, threadId: null };
  if (position.replyToMessageId !== null && GONE_QUOTE.test(error.description)) {
    return { ...position, replyToMessageId: null };
  }
  return null;
}
