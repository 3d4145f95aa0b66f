import { searchWords, stopWords } from "@svc/text";
import { similarityOf } from "@svc/store";
import type { OpenTicket, ProjectId, Store } from "@svc/store";

/** A ticket that is probably about the same as an issue, with the similarity from 0 to 1. */
export interface PossibleDuplicate {
  ticketId: string;
  similarity: number;
}

/** A text to compare: the words of its first line, and all its words. */
interface ComparedText {
  title: string[];
  all: string[];
}

/** Similarity from which two tickets count as duplicates: of their first lines, or of their whole texts. */
const SAME_TITLE = 0.75;
const SAME_TEXT = 0.6;

/** First lines with fewer words are often the same by chance. */
const LEAST_TITLE_WORDS = 3;
/** The first words of a text say what it is about. */
const MAX_WORDS = 80;
const MAX_DUPLICATES = 5;

/** Returns the open tickets of a project that are most likely duplicates of an issue, the most similar first. */
export async function findDuplicates(
  store: Store,
  project: ProjectId,
  issue: { ticketId: string; text: string; language: string | null },
): Promise<PossibleDuplicate[]> {
  const common = stopWords(issue.language ?? "en");
  const own = comparedOf(issue.text, common);
  const tickets = await store.issues.listComparable(project, issue.ticketId, own.title);
  return tickets
    .map((ticket) => ({ ticketId: ticket.ticketId, similarity: ticketSimilarity(own, ticket, common) }))
    .filter(({ similarity }) => similarity > 0)
    .toSorted((a, b) => b.similarity - a.similarity)
    .slice(0, MAX_DUPLICATES);
}

function comparedOf(text: string, common: ReadonlySet<string>): ComparedText {
  const wordsOf = (part: string) => searchWords(part).filter((word) => !common.has(word));
  const [title = ""] = text.trim().split("\n", 1);
  return { title: wordsOf(title), all: wordsOf(text).slice(0, MAX_WORDS) };
}

/** Returns the similarity of two texts, to two decimal places; 0 if it is below the threshold. */
function ticketSimilarity(own: ComparedText, { text }: OpenTicket, common: ReadonlySet<string>): number {
  const other = comparedOf(text, common);
  const isLongEnough = Math.min(own.title.length, other.title.length) >= LEAST_TITLE_WORDS;
  const byTitle = isLongEnough ? similarityOf(own.title, other.title) : 0;
  const byText = similarityOf(own.all, other.all);
  if (byTitle < SAME_TITLE && byText < SAME_TEXT) return 0;
  return Math.round(Math.max(byTitle, byText) * 100) / 100;
}
