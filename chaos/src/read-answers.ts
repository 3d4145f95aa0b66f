import { rowsOf } from "./ground.ts";
import type { Chaos } from "./scenario.ts";

interface StoredMessage extends Record<string, unknown> {
  id: string;
  state: string;
  chat_id: string;
  replies: number;
}

/**
 * Compares a ledger with the store, and returns the differences in words: each stored message was sent by a customer
 * and has exactly one reply, each acknowledged one is stored, and no customer was shown an answer to an unknown
 * message. With `mayFail` dead letters have no reply; messages of the chats that `isProbe` matches are not in the
 * ledger.
 */
export async function readAnswers(
  { ground, ledger }: Chaos,
  { mayFail = false, isProbe = () => false }: { mayFail?: boolean; isProbe?: (chat: string) => boolean } = {},
): Promise<string[]> {
  const rows = await rowsOf<StoredMessage>(
    ground,
    `SELECT m.id, m.state, c.chat_id, coalesce(r.replies, 0) AS replies FROM messages m JOIN chats c USING (ticket_id)
     LEFT JOIN (SELECT in_reply_to, count(*)::integer AS replies FROM replies GROUP BY in_reply_to) r ON r.in_reply_to = m.id`,
  );
  const stored = new Set<string | null>(rows.map(({ id }) => id));
  const sent = new Set(ledger.entries.map(({ messageId }) => messageId));
  const missing = ledger.entries.filter(
    ({ acknowledgedAt, messageId }) => acknowledgedAt !== null && !stored.has(messageId),
  );
  const strange = rows.filter(({ id, chat_id }) => !sent.has(id) && !isProbe(chat_id));
  const isFine = ({ state, replies }: StoredMessage) =>
    mayFail && state === "failed" ? replies === 0 : state === "answered" && replies === 1;
  return [
    ...missing.map(({ messageId }) => `not in the store: ${messageId}`),
    ...strange.map(({ id, chat_id }) => `taken in, but no customer was told so: ${id} of ${chat_id}`),
    ...ledger.unasked().map((id) => `an answer was shown to a message that no customer knows: ${id}`),
    ...rows
      .filter((row) => !isFine(row))
      .map(({ id, state, replies }) => `${replies} replies to ${id}, which is ${state}`),
  ];
}
