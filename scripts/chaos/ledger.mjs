// What customers know: every message with the answers to it that they were shown.
import { writeFileSync } from "node:fs";

/**
 * An empty ledger. An entry is plain data: `id` is the customer's own (Idempotency-Key or clientMessageId), `messageId`
 * the product's, times are milliseconds since the ledger began, `place` counts the messages of a chat from 0, `tries` how
 * often it was sent, and `triedAt` when the last time. Its answers have the `turn` in which they were shown, counted over
 * all of them.
 */
export function createLedger() {
  const entries = [];
  const byMessage = new Map();
  /** Answers that came before their message was acknowledged. */
  const early = new Map();
  let shown = 0;
  const beganAt = performance.now();
  const now = () => Math.round(performance.now() - beganAt);

  return {
    entries,
    now,

    /** Notes that a message is about to be sent. */
    send({ id, channel, chat, place, mode }) {
      const entry = {
        id,
        messageId: null,
        channel,
        chat,
        place,
        mode,
        tries: 1,
        sentAt: now(),
        triedAt: now(),
        acknowledgedAt: null,
        answers: [],
      };
      entries.push(entry);
      return entry;
    },

    /** Notes that a message is about to be sent once more. */
    tryAgain(entry) {
      entry.tries++;
      entry.triedAt = now();
    },

    /** Notes that the customer was told that it is taken. */
    acknowledge(entry, messageId) {
      entry.acknowledgedAt ??= now();
      entry.messageId = messageId;
      byMessage.set(messageId, entry);
      entry.answers.push(...(early.get(messageId) ?? []));
      early.delete(messageId);
    },

    /** Notes that an answer was shown, `by` a call, a drain, a socket or a callback. */
    show({ messageId, replyId, seq, by }) {
      const answer = { replyId, seq, by, at: now(), turn: shown++ };
      const entry = byMessage.get(messageId);
      if (entry === undefined) early.set(messageId, [...(early.get(messageId) ?? []), answer]);
      else entry.answers.push(answer);
    },

    /** Acknowledged messages that have no answer yet. */
    open: () => entries.filter(({ acknowledgedAt, answers }) => acknowledgedAt !== null && answers.length === 0),

    /** Answers to messages of which no customer knows that they were taken. */
    unasked: () => [...early.keys()],

    write(file) {
      writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    },
  };
}

/**
 * Whether a customer asked for this answer in two ways and got the same reply, with the same id, by both: its call was
 * sent again with its Idempotency-Key, which gives a call its own answer, while the chat was read by cursor, which shows
 * a reply until the cursor has passed it.
 */
export const wasAskedTwice = ({ tries, answers }) =>
  tries > 1 &&
  answers.length === 2 &&
  ["call", "drain"].every((way) => answers.some(({ by }) => by === way)) &&
  answers[0].replyId === answers[1].replyId;

/**
 * What is wrong with a ledger, in words: lost, answered twice, shown twice, out of order. The replies of a chat stand in
 * the order of its messages, and each way of reading them shows them in that order; calls and a drain of one chat go on
 * side by side, so that they are not compared with each other.
 */
export function judge(ledger, { mayRepeat = () => false } = {}) {
  const breaches = [];
  const chats = new Map();
  for (const entry of ledger.entries) {
    const { acknowledgedAt, answers, id, chat, place } = entry;
    const name = `message ${place} of ${chat} (${id})`;
    if (acknowledgedAt !== null && answers.length === 0) breaches.push(`lost: ${name}`);
    const replies = new Set(answers.map(({ replyId }) => replyId));
    if (replies.size > 1) breaches.push(`answered twice: ${name}`);
    else if (answers.length > 1 && !mayRepeat(entry)) breaches.push(`shown twice: ${name}`);
    const [first] = answers;
    if (!chats.has(chat)) chats.set(chat, { answered: [], ways: new Map() });
    const { answered, ways } = chats.get(chat);
    if (first !== undefined) answered.push({ place, seq: first.seq, name });
    for (const { by, seq, turn } of answers) ways.set(by, [...(ways.get(by) ?? []), { turn, seq, name }]);
  }
  for (const { answered, ways } of chats.values()) {
    breaches.push(...namesOfLate(answered, "place").map((name) => `out of order: ${name}`));
    for (const [by, shown] of ways)
      breaches.push(...namesOfLate(shown, "turn").map((name) => `shown after a later one by ${by}: ${name}`));
  }
  return breaches;
}

/** Those whose reply does not stand behind that of the one before, in the order of a field. */
function namesOfLate(entries, field) {
  const ordered = entries.toSorted((one, other) => one[field] - other[field]);
  return ordered.filter(({ seq }, index) => index > 0 && seq <= ordered[index - 1].seq).map(({ name }) => name);
}
