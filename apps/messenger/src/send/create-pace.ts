import { DeliveryError } from "@svc/contracts";
import type { ReplyContext } from "@svc/contracts";
import { asProjectId } from "@svc/store";
import type { Store } from "@svc/store";
import { z } from "zod";
import type { Place } from "./create-chat-caller.ts";

/** What sending reads of the store. */
export interface PlaceStore {
  messages: Pick<Store["messages"], "findMeta" | "findLastMeta">;
}

/** What the channel has kept of a message of Telegram, as far as its reply needs it. */
const originSchema = z.object({
  telegram: z.object({ messageId: z.int().optional().catch(undefined), threadId: z.int().optional().catch(undefined) }),
});

/** Groups and supergroups have negative numbers. */
export const isGroup = (chatId: string): boolean => chatId.startsWith("-");

/**
 * Where a reply goes: into the topic of the message that it answers, or of the chat's newest message; in a group it
 * quotes the message that it answers.
 */
export async function findPlace(
  store: PlaceStore,
  chatId: string,
  context: Partial<Pick<ReplyContext, "project" | "ticketId" | "inReplyTo">>,
): Promise<Place> {
  const origin = originSchema.safeParse(await findMeta(store, context));
  const { messageId, threadId } = origin.success ? origin.data.telegram : {};
  const isQuoting = isGroup(chatId) && context.inReplyTo !== undefined;
  return { chatId, threadId: threadId ?? null, replyToMessageId: isQuoting ? (messageId ?? null) : null };
}

async function findMeta(
  store: PlaceStore,
  { project, ticketId, inReplyTo }: Partial<Pick<ReplyContext, "project" | "ticketId" | "inReplyTo">>,
): Promise<Record<string, unknown> | null> {
  if (project === undefined) return null;
  if (inReplyTo !== undefined) return await store.messages.findMeta(asProjectId(project), inReplyTo);
  if (ticketId === undefined) return null;
  return await store.messages.findLastMeta(asProjectId(project), ticketId);
}

/** What Telegram allows (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this). */
const TELEGRAM_PACE = {
  /** Between the end of one message to a chat and the begin of the next one. */
  chatGapMs: 1_000,
  /** Between the begins of two messages to any chats: somewhat less than 30 a second, since answers vary in speed. */
  gapMs: 36,
  /**
   * One message at a time is on its way, so that of those that a dying process cannot note any more there is one. One that
   * takes longer than this, as a large file does, holds up the others no further.
   */
  aloneMs: 1_000,
  /** A message that had to wait longer is put off instead, so that it holds up no other chat. */
  waitMaxMs: 3_000,
};

/** Lets messages through no faster than Telegram takes them. */
export interface Pace {
  /**
   * Runs `send` when the chat and the whole bot may send; one at a time in a chat, and one at a time in all as long as
   * it takes no more than a second. `note` writes down that it is sent, before the next one goes, however long that takes:
   * nothing is sent while it cannot be noted.
   *
   * @throws DeliveryError `later` when that is too far off, or `signal` is aborted while it waits.
   */
  run: <Result>(
    chatId: string,
    send: () => Promise<Result>,
    signal?: AbortSignal,
    note?: () => Promise<void>,
  ) => Promise<Result>;
  /**
   * Telegram wants a pause in this chat. When it wants one in another chat while the first lasts, the bot as a whole is
   * too fast, and all chats pause. Groups say nothing of that: each has a limit of its own, of 20 messages a minute.
   */
  pause: (chatId: string, pauseMs: number) => void;
  /** True while nothing is sent to the chat because Telegram wants a pause. */
  isPaused: (chatId: string) => boolean;
  /** Turns away what waits, and all that comes later; resolves when what is being sent has ended. */
  stop: () => Promise<void>;
}

interface ChatPace {
  freeAt: number;
  pausedUntil: number;
  /** The message that is sent now, or waits, and all before it. */
  last: Promise<void>;
  waiting: number;
}

/** A chat that was not written to for this long is forgotten. */
const FORGET_MS = 60_000;

/** The pace of one bot. Times are in milliseconds of `now`. */
export function createPace({ limits = TELEGRAM_PACE, now = () => performance.now() } = {}): Pace {
  const chats = new Map<string, ChatPace>();
  /** When the last turn was taken. */
  let lastAt = -Infinity;
  /** Resolves when nothing is on its way any more, or is for too long. */
  let lane: Promise<void> = Promise.resolve();
  let pausedUntil = 0;
  let forgetAt = 0;
  const stopping = new AbortController();

  function paceOf(chatId: string): ChatPace {
    if (now() > forgetAt) {
      for (const [id, { freeAt: chatFreeAt, pausedUntil: until, waiting }] of chats) {
        if (waiting === 0 && now() > Math.max(chatFreeAt, until)) chats.delete(id);
      }
      forgetAt = now() + FORGET_MS;
    }
    const known = chats.get(chatId);
    if (known !== undefined) return known;
    const chat: ChatPace = { freeAt: 0, pausedUntil: 0, last: Promise.resolve(), waiting: 0 };
    chats.set(chatId, chat);
    return chat;
  }

  /** @throws DeliveryError when it would be a long wait. */
  async function waitUntil(at: number, signals: readonly (AbortSignal | undefined)[]): Promise<void> {
    const waitMs = at - now();
    if (waitMs > limits.waitMaxMs) throw new DeliveryError("later", "Telegram rate limit", { retryAfterMs: waitMs });
    // Timers may fire somewhat early, which Telegram would see.
    do await wait(Math.ceil(Math.max(0, at - now())), signals);
    while (now() < at);
  }

  /** Waits until nothing else is on its way; answers the function that lets the next one in. */
  async function enterLane(signals: readonly (AbortSignal | undefined)[]): Promise<() => void> {
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
  }

  /**
   * Waits until the chat may be written to and nothing else is on its way, and takes the next moment in which the bot may
   * write. Answers what has to be called when the message is sent, `stay`, and when it is noted, `leave`.
   */
  async function waitForTurn(
    chat: ChatPace,
    signals: readonly (AbortSignal | undefined)[],
  ): Promise<{ stay: () => void; leave: () => void }> {
    for (;;) {
      // Outside the lane: the others would wait with a chat that has to.
      await waitUntil(Math.max(chat.freeAt, chat.pausedUntil), signals);
      const leave = await enterLane(signals);
      try {
        await waitUntil(Math.max(lastAt + limits.gapMs, pausedUntil), signals);
      } catch (error) {
        leave();
        throw error;
      }
      // A pause may have been asked for in the meantime; the turn is lost then.
      if (now() < Math.max(chat.pausedUntil, pausedUntil)) {
        leave();
        continue;
      }
      lastAt = now();
      const timer = setTimeout(leave, limits.aloneMs);
      return { leave, stay: () => clearTimeout(timer) };
    }
  }

  return {
    async run(chatId, send, signal, note) {
      const chat = paceOf(chatId);
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
      const end = () => {
        chat.waiting -= 1;
      };
      chat.last = sending.then(end, end);
      return await sending;
    },
    pause(chatId, pauseMs) {
      const until = now() + pauseMs;
      const isOtherPaused = [...chats].some(([id, chat]) => id !== chatId && !isGroup(id) && chat.pausedUntil > now());
      const chat = paceOf(chatId);
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

/** Waits for this time, or without an end; rejects when a signal is aborted, and is over when `over` is. */
async function wait(
  waitMs: number | null,
  signals: readonly (AbortSignal | undefined)[],
  over?: AbortSignal,
): Promise<void> {
  const brokenOff = () => new DeliveryError("later", "sending aborted", { retryAfterMs: 0 });
  if (signals.some((signal) => signal?.aborted ?? false)) throw brokenOff();
  const end = new AbortController();
  let timer: NodeJS.Timeout | undefined;
  await new Promise<void>((resolve, reject) => {
    if (waitMs !== null) timer = setTimeout(resolve, waitMs);
    for (const signal of signals) {
      signal?.addEventListener("abort", () => reject(brokenOff()), { once: true, signal: end.signal });
    }
    over?.addEventListener("abort", () => resolve(), { once: true, signal: end.signal });
  }).finally(() => {
    clearTimeout(timer);
    end.abort();
  });
}
