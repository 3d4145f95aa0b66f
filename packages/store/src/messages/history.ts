import type { ReplyAuthor, Source } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

/** What was said in a chat: a message of the customer, or the text of a reply. */
export interface Utterance {
  author: "customer" | ReplyAuthor;
  /** At most its first 4,000 characters. */
  text: string;
  /** What a reply has quoted; empty for a message. */
  sources: Source[];
}

const MAX_TEXT_CHARS = 4_000;

const sql = statements("messages/history", {
  maxTextChars: MAX_TEXT_CHARS,
});

/** The last things said in a chat before a place in it, oldest first. */
export async function listBefore(
  db: Db,
  project: ProjectId,
  ticketId: string,
  seq: number,
  limit: number,
): Promise<Utterance[]> {
  const rows = await sql.listBefore.all<{ author: Utterance["author"]; text: string; sources: Source[] | null }>(db, {
    project,
    ticketId,
    seq,
    limit,
  });
  return rows.map(({ author, text, sources }) => ({ author, text, sources: sources ?? [] })).reverse();
}
