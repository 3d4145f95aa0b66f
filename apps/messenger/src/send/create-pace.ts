import { DeliveryError } from "@svc/contracts";
import { isGroup } from "./find-target.ts";

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

/** Returns the paces by chat; `paceOf` adds that of a chat, and forgets chats that were not written to for a while. */
function createChatPaces(now: () => number) {
  const chats = new Map<string, ChatPace>();
  let forgetAt = 0;
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
  return { chats, paceOf };
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

/** Limits of Telegram, and the clock by which they are kept, in milliseconds. */
interface Timing {
  limits: typeof TELEGRAM_PACE;
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

/** Returns the pace of one bot. Times are in milliseconds of `now`. */
export function createPace({ limits = TELEGRAM_PACE, now = () => performance.now() } = {}): Pace {
  const timing = { limits, now };
  const { chats, paceOf } = createChatPaces(now);
  const enterLane = createLane();
  /** When the last turn was taken. */
  let lastAt = -Infinity;
  let pausedUntil = 0;
  const stopping = new AbortController();

  /** Waits until the chat may be written to and no other message is being sent, and takes the bot's next turn. */
  async function waitForTurn(chat: ChatPace, signals: readonly (AbortSignal | undefined)[]): Promise<Turn> {
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
        const timer = setTimeout(leave, limits.aloneMs);
        return { leave, stay: () => clearTimeout(timer) };
      }
      // A pause was requested in the meantime: the turn is lost.
      leave();
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
      chat.last = sending.then(doNothing, doNothing).finally(() => (chat.waiting -= 1));
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
