import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** A message whose agent a person has decided. */
export interface DecidedMessage {
  messageId: string;
  ticketId: string;
  /** Null: it is for none of the agents. */
  agentId: string | null;
  text: string;
}

/** So many are kept for each project, the newest: more teach nothing new. */
const MAX_KEPT = 10_000;

/** The newest resolved tickets that are learned from. */
const MAX_TICKETS = 2_000;

/** What a message is about is said in its beginning. */
const MAX_TEXT_CHARS = 4_000;

const sql = statements("tickets/triage-messages", {
  maxKept1: MAX_KEPT - 1,
  maxTextChars: MAX_TEXT_CHARS,
  maxTickets: MAX_TICKETS,
});

/**
 * Notes what a person has decided about a message; a later decision on the same message takes its place. Of more
 * than 10,000 the oldest go.
 */
export async function note(db: Db, project: ProjectId, decided: DecidedMessage): Promise<void> {
  await sql.note.run(db, { project, ...decided });
  await sql.deleteOldest.run(db, { project });
}

/** Changes whenever what `list` answers does, also when something of it is erased. */
export async function findMark(db: Db, project: ProjectId): Promise<string> {
  const row = await sql.findMark.one<{ mark: string }>(db, { project });
  return row?.mark ?? "";
}

/**
 * What is known of a project: what has been decided, the newest first, and then what the last 2,000 resolved tickets
 * began with, for the agent that had them. A decision about such a message is the one that counts.
 */
export const list = (db: Db, project: ProjectId) =>
  sql.list.all<Pick<DecidedMessage, "agentId" | "text">>(db, { project });
