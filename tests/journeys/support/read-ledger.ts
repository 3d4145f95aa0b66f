import { queryDatabase } from "./query-database.ts";

/** What the store has of a conversation, in its order. */
export interface Ledger {
  messages: string[];
  /** Texts of the replies; null for a file. */
  replies: (string | null)[];
  /** States of the messages, each once. */
  states: string[];
}

/** Reads the conversation that a message with this text belongs to; empty while there is none. */
export async function readLedger(databaseUrl: string, text: string): Promise<Ledger> {
  const ofTicket = "ticket_id IN (SELECT ticket_id FROM messages WHERE text = $1) ORDER BY seq";
  const messages = await queryDatabase<{ text: string; state: string }>(
    databaseUrl,
    `SELECT text, state FROM messages WHERE ${ofTicket}`,
    [text],
  );
  const replies = await queryDatabase<{ text: string | null }>(
    databaseUrl,
    `SELECT text FROM replies WHERE ${ofTicket}`,
    [text],
  );
  return {
    messages: messages.map((message) => message.text),
    replies: replies.map((reply) => reply.text),
    states: [...new Set(messages.map(({ state }) => state))],
  };
}
