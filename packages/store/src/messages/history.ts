import type { ReplyAuthor, Source } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

/** What was said in a chat: a message of the customer, or the text of a reply. */
export interface Utterance {
  author: "customer" | ReplyAuthor;
  /** At most its first 4,000 characters. */
  text: string;
  /** What a reply has quoted; empty for a message. */
  sources: Source[];
}

const MAX_TEXT_CHARS = 4_000;

/** What was said in chats, over messages and replies. */
export function historyOf(db: Db) {
  // Messages and replies share the places of their chat, and both tables have an index on them.
  const LIST_BEFORE = `
    SELECT author, left(text, ${MAX_TEXT_CHARS}) AS text, sources FROM (
      (SELECT seq, 'customer' AS author, text, NULL::jsonb AS sources FROM messages
       WHERE ticket_id = $2 AND project_id = $1 AND seq < $3 ORDER BY seq DESC LIMIT $4)
      UNION ALL
      (SELECT seq, author, text, sources FROM replies
       WHERE ticket_id = $2 AND project_id = $1 AND seq < $3 AND type = 'message' ORDER BY seq DESC LIMIT $4)
    ) AS said ORDER BY seq DESC LIMIT $4`;

  return {
    /** The last things said in a chat before a place in it, oldest first. */
    async listBefore(project: ProjectId, ticketId: string, seq: number, limit: number): Promise<Utterance[]> {
      const rows = await db.prepared<{ author: Utterance["author"]; text: string; sources: Source[] | null }>(
        "history_list_before",
        LIST_BEFORE,
        [project, ticketId, seq, limit],
      );
      return rows.map(({ author, text, sources }) => ({ author, text, sources: sources ?? [] })).reverse();
    },
  };
}
