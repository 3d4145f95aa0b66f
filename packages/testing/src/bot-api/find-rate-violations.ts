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
