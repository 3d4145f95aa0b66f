import type { Source } from "@svc/contracts";
import type { Db } from "../db.ts";
import type { ProjectId } from "../ids.ts";
import { statements } from "../sql.ts";

const sql = statements("tickets/drafts");

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
  const values = ({ text, markdown, sources, confidence, why }: NewDraft) => ({
    project,
    ticketId,
    messageId,
    text,
    markdown,
    confidence,
    why,
    sources: JSON.stringify(sources),
  });
  // Usually there is none yet, and one statement is enough.
  if ((await sql.insert.run(tx, values(draft))) > 0) return;
  const former = await sql.addDraft.one<NewDraft>(tx, { project, ticketId });
  await sql.replace.run(tx, values(former === null ? draft : joinDrafts(former, draft)));
}
