import { queryDatabase } from "@svc/testing";

/** Stored data of a conversation, in order. */
export interface Ledger {
  messages: string[];
  /** Texts of the replies; null for a file. */
  replies: (string | null)[];
  /** Distinct states of the messages. */
  states: string[];
}

/** Reads the conversation that contains a message with this text; empty if there is none. */
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
