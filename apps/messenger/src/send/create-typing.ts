import type { Log } from "@svc/log";
import { BotApiError } from "../telegram/bot-api-error.ts";
import type { BotApi } from "../telegram/bot-api.ts";
import type { Throttle } from "./create-throttle.ts";

/** Telegram shows "typing" for five seconds. It is repeated for at most one minute. */
const TYPING_TIMES = { againMs: 4_500, longestMs: 60_000 };

/** Shows "typing" in chats until the reply is sent. */
export interface Typing {
  /** Starts when a message of the chat is being answered. */
  begin: (chatId: string, threadId: number | null) => void;
  /** Ends for a sent reply. `inReplyTo` is the message that it answers; null, as for a person's reply, ends all. */
  end: (chatId: string, inReplyTo: string | null) => void;
  stop: () => void;
}

interface TypingChat {
  threadId: number | null;
  /** Time at which each unanswered message stops showing "typing", the oldest first. */
  waitsUntil: number[];
  lastAnswered: string | null;
  timer: NodeJS.Timeout | undefined;
}

/** Dependencies of the typing indicators. */
interface TypingContext {
  api: BotApi;
  throttle: Pick<Throttle, "isPaused" | "pause">;
  log: Log;
}

/** Shows "typing" once. Returns false if the chat does not accept it. */
async function showTyping(
  { api, throttle, log }: TypingContext,
  chatId: string,
  threadId: number | null,
  { signal, againMs }: { signal: AbortSignal; againMs: number },
): Promise<boolean> {
  const thread = threadId === null ? {} : { message_thread_id: threadId };
  const payload = { chat_id: chatId, action: "typing", ...thread };
  try {
    if (!throttle.isPaused(chatId)) await api.call("sendChatAction", payload, { signal });
    return true;
  } catch (error) {
    if (!(error instanceof BotApiError)) throw error;
    log.debug({ code: error.code, description: error.description }, "failed to show the typing indicator");
    if (error.kind === "too_many") throttle.pause(chatId, error.retryAfterMs ?? againMs);
    return error.kind === "too_many" || error.kind === "unreachable";
  }
}

/** Returns the typing indicators of a bot. Their errors are logged and affect nothing else. */
export function createTyping({
  times = TYPING_TIMES,
  now = () => performance.now(),
  ...context
}: TypingContext & { times?: typeof TYPING_TIMES; now?: () => number }): Typing {
  const chats = new Map<string, TypingChat>();
  const stopping = new AbortController();

  function forget(chatId: string): void {
    clearTimeout(chats.get(chatId)?.timer);
    chats.delete(chatId);
  }

  function again(chatId: string, chat: TypingChat): void {
    chat.waitsUntil = chat.waitsUntil.filter((until) => until > now());
    if (chat.waitsUntil.length === 0) {
      forget(chatId);
      return;
    }
    chat.timer = setTimeout(() => again(chatId, chat), times.againMs);
    showTyping(context, chatId, chat.threadId, { signal: stopping.signal, againMs: times.againMs })
      .then((isAccepted) => {
        if (!isAccepted && chats.get(chatId) === chat) forget(chatId);
      })
      .catch((error: unknown) => context.log.warn({ error }, "failed to show the typing indicator"));
  }

  return {
    begin(chatId, threadId) {
      if (stopping.signal.aborted) return;
      const known = chats.get(chatId);
      const chat = known ?? { threadId, waitsUntil: [], lastAnswered: null, timer: undefined };
      chat.threadId = threadId;
      chat.waitsUntil.push(now() + times.longestMs);
      if (known !== undefined) return;
      chats.set(chatId, chat);
      again(chatId, chat);
    },
    end(chatId, inReplyTo) {
      const chat = chats.get(chatId);
      if (chat === undefined) return;
      // The first of several replies to a message counts.
      if (inReplyTo !== null && inReplyTo !== chat.lastAnswered) chat.waitsUntil.shift();
      chat.lastAnswered = inReplyTo;
      if (inReplyTo === null || chat.waitsUntil.length === 0) forget(chatId);
    },
    stop() {
      stopping.abort();
      for (const chatId of chats.keys()) forget(chatId);
    },
  };
}
