import { z } from "zod";
import { DeliveryError } from "@svc/contracts";
import type { ReplyContext } from "@svc/contracts";
import { asProjectId } from "@svc/store";
import type { Store } from "@svc/store";

/** Destination of a message in a chat. A topic or message that Telegram no longer knows is omitted. */
export interface Position {
  chatId: string;
  /** Topic of a forum. */
  threadId: number | null;
  /** The message that is quoted. */
  replyToMessageId: number | null;
}

/** What sending reads from the store. */
export interface TargetStore {
  messages: Pick<Store["messages"], "findMeta" | "findLastMeta">;
}

/** What the channel stored with a message of Telegram, as far as its reply needs it. */
const originSchema = z.object({
  telegram: z.object({ messageId: z.int().optional().catch(undefined), threadId: z.int().optional().catch(undefined) }),
});

/** Groups and supergroups have negative numbers. */
export const isGroup = (chatId: string): boolean => chatId.startsWith("-");

/**
 * Returns the destination of a reply: the topic of the message that it answers, or of the chat's newest message; in a group it
 * quotes the message that it answers.
 */
export async function findTarget(
  store: TargetStore,
  chatId: string,
  context: Partial<Pick<ReplyContext, "project" | "ticketId" | "inReplyTo">>,
): Promise<Position> {
  const origin = originSchema.safeParse(await findMeta(store, context));
  const { messageId, threadId } = origin.success ? origin.data.telegram : {};
  const isQuoting = isGroup(chatId) && context.inReplyTo !== undefined;
  return { chatId, threadId: threadId ?? null, replyToMessageId: isQuoting ? (messageId ?? null) : null };
}

async function findMeta(
  store: TargetStore,
  { project, ticketId, inReplyTo }: Partial<Pick<ReplyContext, "project" | "ticketId" | "inReplyTo">>,
): Promise<Record<string, unknown> | null> {
  if (project === undefined) return null;
  if (inReplyTo !== undefined) return await store.messages.findMeta(asProjectId(project), inReplyTo);
  if (ticketId === undefined) return null;
  return await store.messages.findLastMeta(asProjectId(project), ticketId);
}

/** Telegram's rate limits (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this). */
const TELEGRAM_RATE_LIMITS = {
  /** Time from the end of one message to a chat to the beginning of the next. */
  chatGapMs: 1_000,
  /**
   * Time between the beginnings of two messages to any chats: somewhat below 30 a second, since response times vary.
   */
  gapMs: 36,
  /**
   * One message at a time is in flight, so that a crash leaves at most one sent message unrecorded. One that takes
   * longer, such as a large file, does not block the others beyond this time.
   */
  exclusiveMs: 1_000,
  /** A message that would wait longer is deferred instead, so that it does not block other chats. */
  waitMaxMs: 3_000,
};

/** Throttles messages to Telegram's rate limits. */
export interface Throttle {
  /**
   * Runs `send` when both the chat and the bot may send. Messages of a chat are sent one at a time, and so are all
   * messages unless one takes more than a second. `note` records that the message was sent; nothing else is sent
   * until it resolves.
   * @throws DeliveryError `later` if the wait would be too long, or if `signal` is aborted while it waits.
   */
  run: <Result>(
    chatId: string,
    send: () => Promise<Result>,
    signal?: AbortSignal,
    note?: () => Promise<void>,
  ) => Promise<Result>;
  /**
   * Records that Telegram requests a pause in this chat. If it requests one in another chat before the first ends,
   * the bot as a whole is too fast, and all chats pause. Groups do not count for that: each has its own limit of 20
   * messages a minute.
   */
  pause: (chatId: string, pauseMs: number) => void;
  /** Returns true while nothing is sent to the chat because Telegram has requested a pause. */
  isPaused: (chatId: string) => boolean;
  /** Rejects waiting and future messages; resolves when messages in flight have ended. */
  stop: () => Promise<void>;
}

interface ChatState {
  freeAt: number;
  pausedUntil: number;
  /** Resolves when the last message, sent or waiting, and all before it have ended. */
  last: Promise<void>;
  waiting: number;
}

/** Time without messages after which the state of a chat is deleted. */
const STATE_TTL_MS = 60_000;

/** Returns the state of all chats; `stateOf` adds that of a chat, and deletes those without messages for a while. */
function createChatStates(now: () => number) {
  const chats = new Map<string, ChatState>();
  let forgetAt = 0;
  function stateOf(chatId: string): ChatState {
    if (now() > forgetAt) {
      for (const [id, { freeAt: chatFreeAt, pausedUntil: until, waiting }] of chats) {
        if (waiting === 0 && now() > Math.max(chatFreeAt, until)) chats.delete(id);
      }
      forgetAt = now() + STATE_TTL_MS;
    }
    const known = chats.get(chatId);
    if (known !== undefined) return known;
    const chat: ChatState = { freeAt: 0, pausedUntil: 0, last: Promise.resolve(), waiting: 0 };
    chats.set(chatId, chat);
    return chat;
  }
  return { chats, stateOf };
}

/** Returns a function that waits until no other message is being sent, and resolves with the one that lets the next in. */
function createLane() {
  /** Resolves when no message is being sent, or one takes too long. */
  let lane: Promise<void> = Promise.resolve();
  return async function enterLane(signals: readonly (AbortSignal | undefined)[]): Promise<() => void> {
    let leave = () => {};
    const mine = new Promise<void>((resolve) => {
      leave = resolve;
    });
    const before = lane;
    lane = before.then(() => mine);
    const aborts = new AbortController();
    try {
      await Promise.race([before, wait(null, [...signals], aborts.signal)]);
    } catch (error) {
      leave();
      throw error;
    } finally {
      aborts.abort();
    }
    return leave;
  };
}

const doNothing = () => {};

/** The turn of one message. */
interface Turn {
  /** Called when the message was sent: no other one is let in until `leave`. */
  stay: () => void;
  /** Called when it was recorded that the message was sent: lets the next one in. */
  leave: () => void;
}

/** Rate limits, and the clock that measures them, in milliseconds. */
interface Timing {
  limits: typeof TELEGRAM_RATE_LIMITS;
  now: () => number;
}

/** Waits until a time. Throws DeliveryError `later` if that is too far off, or a signal is aborted. */
async function waitUntil(
  { limits, now }: Timing,
  at: number,
  signals: readonly (AbortSignal | undefined)[],
): Promise<void> {
  const waitMs = at - now();
  if (waitMs > limits.waitMaxMs) throw new DeliveryError("later", "Telegram rate limit", { retryAfterMs: waitMs });
  // Timers may fire somewhat early, which Telegram would see.
  do await wait(Math.ceil(Math.max(0, at - now())), signals);
  while (now() < at);
}

/** Returns the throttle of one bot. Times are in milliseconds of `now`. */
export function createThrottle({ limits = TELEGRAM_RATE_LIMITS, now = () => performance.now() } = {}): Throttle {
  const timing = { limits, now };
  const { chats, stateOf } = createChatStates(now);
  const enterLane = createLane();
  /** When the last turn was taken. */
  let lastAt = -Infinity;
  let pausedUntil = 0;
  const stopping = new AbortController();

  /** Waits until the chat may be written to and no other message is being sent, and takes the bot's next turn. */
  async function waitForTurn(chat: ChatState, signals: readonly (AbortSignal | undefined)[]): Promise<Turn> {
    for (;;) {
      // Outside the lane: the others would wait with a chat that has to.
      await waitUntil(timing, Math.max(chat.freeAt, chat.pausedUntil), signals);
      const leave = await enterLane(signals);
      try {
        await waitUntil(timing, Math.max(lastAt + limits.gapMs, pausedUntil), signals);
      } catch (error) {
        leave();
        throw error;
      }
      if (now() >= Math.max(chat.pausedUntil, pausedUntil)) {
        lastAt = now();
        const timer = setTimeout(leave, limits.exclusiveMs);
        return { leave, stay: () => clearTimeout(timer) };
      }
      // A pause was requested in the meantime: the turn is lost.
      leave();
    }
  }

  return {
    async run(chatId, send, signal, note) {
      const chat = stateOf(chatId);
      chat.waiting += 1;
      const sending = chat.last.then(async () => {
        const { stay, leave } = await waitForTurn(chat, [signal, stopping.signal]);
        try {
          const result = await send();
          stay();
          await note?.();
          return result;
        } finally {
          chat.freeAt = now() + limits.chatGapMs;
          stay();
          leave();
        }
      });
      // The next sender waits for the end only; the caller handles errors.
      chat.last = sending.then(doNothing, doNothing).finally(() => (chat.waiting -= 1));
      return await sending;
    },
    pause(chatId, pauseMs) {
      const until = now() + pauseMs;
      const isOtherPaused = [...chats].some(([id, chat]) => id !== chatId && !isGroup(id) && chat.pausedUntil > now());
      const chat = stateOf(chatId);
      chat.pausedUntil = Math.max(chat.pausedUntil, until);
      if (isOtherPaused && !isGroup(chatId)) pausedUntil = Math.max(pausedUntil, until);
    },
    isPaused: (chatId) => Math.max(pausedUntil, chats.get(chatId)?.pausedUntil ?? 0) > now(),
    async stop() {
      stopping.abort();
      await Promise.all([...chats.values()].map(async ({ last }) => await last));
    },
  };
}

/** Waits for this time, without a limit if it is null; resolves early if `over` is aborted, rejects if a signal is. */
async function wait(
  waitMs: number | null,
  signals: readonly (AbortSignal | undefined)[],
  over?: AbortSignal,
): Promise<void> {
  const abortedError = () => new DeliveryError("later", "sending aborted", { retryAfterMs: 0 });
  if (signals.some((signal) => signal?.aborted ?? false)) throw abortedError();
  const end = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    if (waitMs !== null) timer = setTimeout(resolve, waitMs);
    for (const signal of signals) {
      signal?.addEventListener("abort", () => reject(abortedError()), { once: true, signal: end.signal });
    }
    over?.addEventListener("abort", () => resolve(), { once: true, signal: end.signal });
  }).finally(() => {
    clearTimeout(timer);
    end.abort();
  });
}
