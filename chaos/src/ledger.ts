// The customers' view: every message with the answers that they were shown.
import { writeFileSync } from "node:fs";

/** How a customer got an answer. */
export type Way = "call" | "drain" | "socket" | "callback";
export type Mode = "sync" | "async" | "webhook";

/** A message that is about to be sent. */
interface SentMessage {
  /** The customer's own id: its Idempotency-Key or clientMessageId. */
  id: string;
  channel: "api" | "widget";
  chat: string;
  /** Counts the messages of a chat from 0. */
  place: number;
  mode: Mode | null;
}

/** An answer that a customer was shown. */
interface ShownAnswer {
  replyId: string;
  seq: number;
  by: Way;
  at: number;
  /** Counts the answers of the whole ledger in the order in which they were shown. */
  turn: number;
}

/** A message and its answers. Times are milliseconds since the ledger began. */
export interface Entry extends SentMessage {
  /** The product's id. */
  messageId: string | null;
  /** How often it was sent, and when the last time. */
  tries: number;
  sentAt: number;
  triedAt: number;
  acknowledgedAt: number | null;
  answers: ShownAnswer[];
}

export type Ledger = ReturnType<typeof createLedger>;

/** Creates an empty ledger. */
export function createLedger() {
  const entries: Entry[] = [];
  const byMessage = new Map<string, Entry>();
  /** Answers that came before their message was acknowledged. */
  const early = new Map<string, ShownAnswer[]>();
  let shown = 0;
  const beganAt = performance.now();
  const now = () => Math.round(performance.now() - beganAt);

  return {
    entries,
    now,

    /** Notes that a message is about to be sent. */
    send(message: SentMessage): Entry {
      const entry: Entry = {
        ...message,
        messageId: null,
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
    tryAgain(entry: Entry) {
      entry.tries++;
      entry.triedAt = now();
    },

    /** Records that the customer was notified of its acceptance. */
    acknowledge(entry: Entry, messageId: string) {
      entry.acknowledgedAt ??= now();
      entry.messageId = messageId;
      byMessage.set(messageId, entry);
      entry.answers.push(...(early.get(messageId) ?? []));
      early.delete(messageId);
    },

    /** Notes that an answer was shown, `by` a call, a drain, a socket or a callback. */
    show({ messageId, replyId, seq, by }: { messageId: string; replyId: string; seq: number; by: Way }) {
      const answer = { replyId, seq, by, at: now(), turn: shown++ };
      const entry = byMessage.get(messageId);
      if (entry === undefined) early.set(messageId, [...(early.get(messageId) ?? []), answer]);
      else entry.answers.push(answer);
    },

    /** Acknowledged messages that have no answer yet. */
    open: () => entries.filter(({ acknowledgedAt, answers }) => acknowledgedAt !== null && answers.length === 0),

    /** Answers to messages of which no customer knows that they were taken. */
    unasked: () => [...early.keys()],

    write(file: string) {
      writeFileSync(file, entries.map((entry) => `${JSON.stringify(entry)}\n`).join(""));
    },
  };
}

/**
 * Returns whether a customer requested this answer in two ways and got the same reply, with the same id, from both: its
 * call was repeated with its Idempotency-Key, which returns the call's own answer, while the chat was read by cursor,
 * which returns a reply until the cursor has passed it.
 */
export const wasAskedTwice = ({ tries, answers }: Entry) =>
  tries > 1 &&
  answers.length === 2 &&
  ["call", "drain"].every((way) => answers.some(({ by }) => by === way)) &&
  answers[0]?.replyId === answers[1]?.replyId;

/**
 * Returns the errors of a ledger, in words: lost, answered twice, shown twice, out of order. The replies of a chat are
 * in the order of its messages, and each way of reading shows them in that order; calls and a drain of one chat run
 * concurrently, so they are not compared with each other.
 */
export function judge(
  ledger: Pick<Ledger, "entries">,
  { mayRepeat = () => false }: { mayRepeat?: (entry: Entry) => boolean } = {},
): string[] {
  const breaches: string[] = [];
  const chats = new Map<string, { answered: Rank[]; ways: Map<Way, Rank[]> }>();
  for (const entry of ledger.entries) {
    const { acknowledgedAt, answers, id, chat, place: position } = entry;
    const name = `message ${position} of ${chat} (${id})`;
    if (acknowledgedAt !== null && answers.length === 0) breaches.push(`lost: ${name}`);
    const replies = new Set(answers.map(({ replyId }) => replyId));
    if (replies.size > 1) breaches.push(`answered twice: ${name}`);
    else if (answers.length > 1 && !mayRepeat(entry)) breaches.push(`shown twice: ${name}`);
    const [first] = answers;
    const { answered, ways } = chats.get(chat) ?? { answered: [], ways: new Map<Way, Rank[]>() };
    chats.set(chat, { answered, ways });
    if (first !== undefined) answered.push({ rank: position, seq: first.seq, name });
    for (const { by, seq, turn } of answers) ways.set(by, [...(ways.get(by) ?? []), { rank: turn, seq, name }]);
  }
  for (const { answered, ways } of chats.values()) {
    breaches.push(...namesOfLate(answered).map((name) => `out of order: ${name}`));
    for (const [by, shown] of ways)
      breaches.push(...namesOfLate(shown).map((name) => `shown after a later one by ${by}: ${name}`));
  }
  return breaches;
}

/** The reply to a message: `seq` has to grow with `rank`. */
interface Rank {
  rank: number;
  seq: number;
  name: string;
}

/** Returns the messages whose reply does not stand behind that of the one before. */
function namesOfLate(ranks: readonly Rank[]): string[] {
  const ordered = ranks.toSorted((one, other) => one.rank - other.rank);
  return ordered
    .filter(({ seq }, index) => seq <= (ordered[index - 1]?.seq ?? Number.NEGATIVE_INFINITY))
    .map(({ name }) => name);
}
