import { BotApiRefusal } from "./read-payload.ts";

/** An update in the Bot API's format. */
export type BotUpdate = { update_id: number } & Record<string, unknown>;

/** Arguments of a poll (https://core.telegram.org/bots/api#getupdates). */
export interface UpdateRequest {
  offset: number;
  limit: number;
  timeoutS: number;
  allowedUpdates: readonly string[] | undefined;
  /** Aborted when the poller disconnects. */
  signal: AbortSignal;
}

/** The updates of one bot that have not been confirmed. */
export interface UpdateQueue {
  /** Adds updates at once. Kinds that the poller has not requested are dropped by default. */
  push: (updates: readonly BotUpdate[], options: { isUnasked: boolean }) => void;
  /** Confirms updates before the offset and returns the others, or waits for one. */
  get: (request: UpdateRequest) => Promise<BotUpdate[]>;
  pending: () => BotUpdate[];
  isPolled: () => boolean;
  /** Ends the waiting poll, if there is one. */
  endPoll: (refusal: BotApiRefusal) => void;
}

interface LongPoll {
  limit: number;
  answer: (updates: BotUpdate[]) => void;
  refuse: (refusal: BotApiRefusal) => void;
}

/** A repeated poll within this time gets only one update, as in Telegram. */
const HASTE_MS = 500;

const terminatedByOther = (): BotApiRefusal =>
  new BotApiRefusal(
    409,
    "Conflict: terminated by other getUpdates request; make sure that only one bot instance is running",
  );

/** The other key of an update is its kind. */
const kindOf = (update: BotUpdate): string => Object.keys(update).find((name) => name !== "update_id") ?? "";

export function createUpdateQueue(): UpdateQueue {
  let queue: BotUpdate[] = [];
  let allowed: readonly string[] | undefined;
  let poll: LongPoll | null = null;
  let previous = { offset: Number.NaN, atMs: 0 };

  function endPoll(refusal: BotApiRefusal): void {
    poll?.refuse(refusal);
  }

  function wait({ limit, timeoutS, signal }: UpdateRequest): Promise<BotUpdate[]> {
    // The latest poll continues.
    endPoll(terminatedByOther());
    return new Promise((resolve, reject) => {
      const settle = (end: () => void) => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
        if (poll === own) poll = null;
        end();
      };
      const own: LongPoll = {
        limit,
        answer: (updates) => settle(() => resolve(updates)),
        refuse: (refusal) => settle(() => reject(refusal)),
      };
      const leave = () => own.answer([]);
      const timer = setTimeout(leave, timeoutS * 1_000);
      signal.addEventListener("abort", leave, { once: true });
      poll = own;
    });
  }

  return {
    push(updates, { isUnasked }) {
      queue.push(...updates.filter((update) => isUnasked || (allowed?.includes(kindOf(update)) ?? true)));
      if (poll !== null && queue.length > 0) poll.answer(queue.slice(0, poll.limit));
    },
    async get(request) {
      if (request.allowedUpdates !== undefined) {
        allowed = request.allowedUpdates.length === 0 ? undefined : request.allowedUpdates;
      }
      const { offset } = request;
      const now = performance.now();
      const isHasty = offset === previous.offset && now < previous.atMs + HASTE_MS;
      previous = { offset, atMs: now };
      if (offset < 0) queue = queue.slice(offset);
      else if (offset > 0) queue = queue.filter((update) => update.update_id >= offset);
      const found = queue.slice(0, isHasty ? 1 : request.limit);
      return found.length > 0 || request.timeoutS === 0 ? found : await wait(request);
    },
    pending: () => [...queue],
    isPolled: () => poll !== null,
    endPoll,
  };
}

/** A sent message: its chat, and its time in milliseconds of the monotonic clock. */
export interface Sending {
  chatId: string;
  atMs: number;
}

/**
 * A violation of Telegram's rate limits
 * (https://core.telegram.org/bots/faq#my-bot-is-hitting-limits-how-do-i-avoid-this).
 */
export interface RateViolation {
  /** The chat with two messages in a second; null if all chats together got more than 30. */
  chatId: string | null;
  /** Time between the first message and the one over the limit. */
  withinMs: number;
}

export const SECOND_MS = 1_000;
/** Limit of messages per second to all chats together. */
export const MESSAGES_A_SECOND = 30;

/**
 * Where more than one message a second went to a chat, or more than 30 a second to all.
 *
 * @param toleranceMs by how much messages may come closer on their way than they were sent.
 */
export function findRateViolations(sendings: readonly Sending[], toleranceMs: number): RateViolation[] {
  const violations: RateViolation[] = [];
  const lastOf = new Map<string, number>();
  for (const [index, { chatId, atMs }] of sendings.entries()) {
    const sinceLastMs = atMs - (lastOf.get(chatId) ?? -Infinity);
    if (sinceLastMs < SECOND_MS - toleranceMs) violations.push({ chatId, withinMs: sinceLastMs });
    lastOf.set(chatId, atMs);
    const earlier = sendings[index - MESSAGES_A_SECOND];
    if (earlier !== undefined && atMs - earlier.atMs < SECOND_MS - toleranceMs) {
      violations.push({ chatId: null, withinMs: atMs - earlier.atMs });
    }
  }
  return violations;
}
