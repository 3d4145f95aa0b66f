import type { Source } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";

/** The answer that waits for an operator. */
export interface NewDraft {
  text: string;
  markdown: boolean;
  sources: Source[];
  confidence: number;
  why: string;
}

/** So long may a text be that an operator sends, in characters. */
const MAX_TEXT_CHARS = 50_000;
/** What is kept of the reasons of a draft, in characters. */
const MAX_WHY_CHARS = 1_000;

/** The first characters of a text; never cut inside one. */
const beginning = (text: string, maxChars: number) =>
  text.length <= maxChars ? text : Array.from(text).slice(0, maxChars).join("");

/** Two texts with this between them; what stands in the first already is not said again. */
function joinTexts(former: string, added: string, between: string): string {
  if (former.trim() === "") return added;
  return added.trim() === "" || former.includes(added) ? former : `${former}${between}${added}`;
}

/** What tells a source from another one. */
const keyOf = ({ documentId, chunkId, quote }: Source) => JSON.stringify([documentId, chunkId, quote]);

/**
 * The draft of two questions: the answers one after the other, with the sources of both, as sure as the less sure of
 * them. What an answer says that stands in the former one already is not said again. At most 50,000 characters.
 */
export function joinDrafts(former: NewDraft, added: NewDraft): NewDraft {
  const known = new Set(former.sources.map(keyOf));
  return {
    text: beginning(joinTexts(former.text, added.text, "\n\n"), MAX_TEXT_CHARS),
    markdown: former.markdown || added.markdown,
    sources: [...former.sources, ...added.sources.filter((source) => !known.has(keyOf(source)))],
    confidence: Math.min(former.confidence, added.confidence),
    why: beginning(joinTexts(former.why, added.why, "; "), MAX_WHY_CHARS),
  };
}

/**
 * Keeps what a run has found for a message: with the draft that is there already it makes one draft for all messages
 * that wait, since one reply answers them all. For whoever holds the lock on the chat, so that nobody else writes the
 * draft.
 */
export async function addDraft(
  tx: Db,
  project: ProjectId,
  { ticketId, messageId, draft }: { ticketId: string; messageId: string; draft: NewDraft },
): Promise<void> {
  const values = ({ text, markdown, sources, confidence, why }: NewDraft) => [
    project,
    ticketId,
    text,
    markdown,
    JSON.stringify(sources),
    confidence,
    why,
    messageId,
  ];
  // Mostly there is none yet, and one statement is enough.
  const [added] = await tx.query(
    `INSERT INTO drafts (ticket_id, project_id, text, markdown, sources, confidence, why, covers)
     VALUES ($2, $1, $3, $4, $5, $6, $7, ARRAY[$8::uuid]) ON CONFLICT (ticket_id) DO NOTHING RETURNING ticket_id`,
    values(draft),
  );
  if (added !== undefined) return;
  const [former] = await tx.query<NewDraft>(
    `SELECT text, markdown, sources, coalesce(confidence, 0) AS confidence, why FROM drafts
     WHERE project_id = $1 AND ticket_id = $2`,
    [project, ticketId],
  );
  await tx.query(
    `UPDATE drafts SET text = $3, markdown = $4, sources = $5, confidence = $6, why = $7,
       covers = array_remove(covers, $8::uuid) || $8::uuid, created_at = now()
     WHERE project_id = $1 AND ticket_id = $2`,
    values(former === undefined ? draft : joinDrafts(former, draft)),
  );
}
