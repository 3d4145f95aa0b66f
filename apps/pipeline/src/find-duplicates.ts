import { searchWords, stopWords } from "@svc/text";
import { similarityOf } from "@svc/store";
import type { OpenTicket, ProjectId, Store } from "@svc/store";

/** A ticket that is likely about the same as an issue, and how much so: 0 to 1. */
export interface PossibleDuplicate {
  ticketId: string;
  similarity: number;
}

/** A text as it is compared: what it is about, in its first line, and all of it. */
interface ComparedText {
  title: string[];
  all: string[];
}

/** From these on two tickets count as the same: by their first lines alone, or by all that is said. */
const SAME_TITLE = 0.75;
const SAME_TEXT = 0.6;

/** A first line of fewer words is shared by chance. */
const LEAST_TITLE_WORDS = 3;
/** What a text is about is said with its first words. */
const MAX_WORDS = 80;
const MAX_DUPLICATES = 5;

/** The open tickets of a project that an issue is most likely about as well, the likeliest first. Changes nothing. */
export async function findDuplicates(
  store: Store,
  project: ProjectId,
  issue: { ticketId: string; text: string; language: string | null },
): Promise<PossibleDuplicate[]> {
  const common = stopWords(issue.language ?? "en");
  const own = comparedOf(issue.text, common);
  const tickets = await store.issues.listComparable(project, issue.ticketId, own.title);
  return tickets
    .map((ticket) => ({ ticketId: ticket.ticketId, similarity: likenessOf(own, ticket, common) }))
    .filter(({ similarity }) => similarity > 0)
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, MAX_DUPLICATES);
}

function comparedOf(text: string, common: ReadonlySet<string>): ComparedText {
  const wordsOf = (part: string) => searchWords(part).filter((word) => !common.has(word));
  const [title = ""] = text.trim().split("\n", 1);
  return { title: wordsOf(title), all: wordsOf(text).slice(0, MAX_WORDS) };
}

/** How much they are about the same, to two places; 0 where that is less than likely. */
function likenessOf(own: ComparedText, { text }: OpenTicket, common: ReadonlySet<string>): number {
  const other = comparedOf(text, common);
  const isTelling = Math.min(own.title.length, other.title.length) >= LEAST_TITLE_WORDS;
  const byTitle = isTelling ? similarityOf(own.title, other.title) : 0;
  const byText = similarityOf(own.all, other.all);
  if (byTitle < SAME_TITLE && byText < SAME_TEXT) return 0;
  return Math.round(Math.max(byTitle, byText) * 100) / 100;
}
