import { rowsOf } from "./ground.mjs";

/**
 * Compares a ledger with the store, in words: each message that is there has exactly one reply, each that was
 * acknowledged is there. With `mayFail` its dead letters have none.
 */
export async function readAnswers(ground, ledger, { mayFail = false } = {}) {
  const rows = await rowsOf(
    ground,
    `SELECT m.id, m.state, coalesce(r.replies, 0) AS replies FROM messages m
     LEFT JOIN (SELECT in_reply_to, count(*)::integer AS replies FROM replies GROUP BY in_reply_to) r ON r.in_reply_to = m.id`,
  );
  const known = new Set(rows.map(({ id }) => id));
  const missing = ledger.entries.filter(
    ({ acknowledgedAt, messageId }) => acknowledgedAt !== null && !known.has(messageId),
  );
  const isFine = ({ state, replies }) =>
    mayFail && state === "failed" ? replies === 0 : state === "answered" && replies === 1;
  return [
    ...missing.map(({ messageId }) => `not in the store: ${messageId}`),
    ...rows
      .filter((row) => !isFine(row))
      .map(({ id, state, replies }) => `${replies} replies to ${id}, which is ${state}`),
  ];
}
