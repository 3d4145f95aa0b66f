import type { Db, VersionedId } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { recordEvents } from "../platform/webhooks.ts";
import { statements } from "../sql.ts";
import { GAP_LIMITS } from "@svc/contracts";
import type { GapListQuery, GapStatus, KeyPosition } from "@svc/contracts";

/** Similarity from which two questions count as the same: chosen by `tests/packages/store/gap-groups.test.ts`. */
export const SAME_QUESTION = 0.7;

/** Minimum common prefix of two forms of a word. */
const MIN_COMMON_CHARS = 4;

/** Maximum length of a suffix that makes one word a form of another: `livr`, `livraison`. */
const MAX_ENDING_CHARS = 5;

/** Minimum length of a word in which one changed letter counts as a typo. */
const MIN_MISSPELT_CHARS = 6;

const HAS_DIGIT = /\p{N}/u;

/** Matches the number of one order, invoice or customer, which says nothing about the question. */
const INDIVIDUAL = /\p{N}{5}/u;

/**
 * Returns the similarity of two questions, 0 to 1: twice the number of shared terms divided by the number of all terms.
 * Two forms of a word count as shared, and so does a typo. If each question has a code or number that the other lacks
 * (`K-1050`, `K-2000`), they are different. Numbers of five or more digits are ignored.
 */
export function similarityOf(oneTerms: readonly string[], otherTerms: readonly string[]): number {
  const isShared = (term: string) => !INDIVIDUAL.test(term);
  const [one, other] = [oneTerms.filter(isShared), otherTerms.filter(isShared)];
  if (one.length === 0 || other.length === 0) return 0;
  const isNumberOf = (terms: readonly string[]) => (term: string) => HAS_DIGIT.test(term) && !terms.includes(term);
  if (one.some(isNumberOf(other)) && other.some(isNumberOf(one))) return 0;
  const left = [...other];
  let shared = 0;
  for (const term of one) {
    const exact = left.indexOf(term);
    const position = exact === -1 ? left.findIndex((candidate) => isSameTerm(term, candidate)) : exact;
    if (position === -1) continue;
    left.splice(position, 1);
    shared += 1;
  }
  return (2 * shared) / (one.length + other.length);
}

function isSameTerm(one: string, other: string): boolean {
  if (HAS_DIGIT.test(one) || HAS_DIGIT.test(other)) return false;
  const shorter = Math.min(one.length, other.length);
  const beyond = Math.max(one.length, other.length) - shorter;
  const common = commonLength(one, other);
  if (common === shorter && common >= MIN_COMMON_CHARS && beyond <= MAX_ENDING_CHARS) return true;
  if (shorter < MIN_MISSPELT_CHARS || beyond > 1) return false;
  const tail = Math.min(commonEndLength(one, other), shorter - common);
  return shorter + beyond - common - tail <= 1;
}

function commonLength(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let length = 0;
  while (length < shorter && one[length] === other[length]) length += 1;
  return length;
}

function commonEndLength(one: string, other: string): number {
  const shorter = Math.min(one.length, other.length);
  let length = 0;
  while (length < shorter && one.at(-1 - length) === other.at(-1 - length)) length += 1;
  return length;
}

/** A message without a good answer. */
export interface UnansweredMessage {
  messageId: string;
  ticketId: string;
  /** As the customer wrote it. */
  text: string;
  /** The part that is a question. */
  question: string;
  /** The terms for comparisons: stems of the significant words. */
  terms: readonly string[];
  /** ISO 639-1; null if unknown. */
  language: string | null;
  /** The agent that should have answered; null if no agent fits. */
  agentId: string | null;
}

/** A question without a good answer, with its equivalent ones. */
export interface GapRecord {
  id: string;
  question: string;
  language: string | null;
  /** The agent that should have answered the last time, and its knowledge bases. */
  agentId: string | null;
  kbIds: string[];
  count: number;
  status: GapStatus;
  /** The article that was written for it. */
  article: { kbId: string; documentId: string } | null;
  /** The newest messages that asked it, newest first. */
  examples: { text: string; ticketId: string; at: Date }[];
  createdAt: Date;
  lastAt: Date;
  version: number;
}

type GapRow = Omit<GapRecord, "article" | "examples"> & {
  kbId: string | null;
  documentId: string | null;
  examples: { text: string; ticketId: string; at: string }[];
};

const { textMaxChars: TEXT_CHARS, examplesMaxCount: EXAMPLES } = GAP_LIMITS;

/** Maximum number of gaps that are compared with a question: those with the most terms in common. */
const MAX_COMPARED = 100;

/** Advisory lock that serializes the recording of questions in a project. */
const RECORD_LOCK = 7_236_013;

const sql = statements("knowledge/gaps", {
  examples: EXAMPLES,
  maxCompared: MAX_COMPARED,
});

/** Truncates a text without splitting a surrogate pair. */
function cut(text: string): string {
  if (text.length <= TEXT_CHARS) return text;
  const end = TEXT_CHARS - 1;
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return `${text.slice(0, isHalf ? end - 1 : end)}…`;
}

/** Returns the gap with an equivalent question, if any. */
async function findSame(tx: Db, project: ProjectId, terms: readonly string[]): Promise<string | null> {
  const rows = await sql.findSame.all(tx, { project, terms });
  let best: { id: string; similarity: number } | null = null;
  for (const row of rows) {
    const similarity = similarityOf(terms, row.terms);
    if (similarity >= SAME_QUESTION && similarity > (best?.similarity ?? 0)) best = { id: row.id, similarity };
  }
  return best?.id ?? null;
}

async function insertGap(tx: Db, project: ProjectId, asked: UnansweredMessage): Promise<string> {
  const id = newId();
  await sql.insertGap.run(tx, { ...asked, id, project, question: cut(asked.question) });
  await indexTerms(tx, project, [id]);
  return id;
}

/**
 * Records a message without a good answer, with an equivalent gap or as a new one; a message that was already recorded
 * changes nothing. An answered gap is reopened, an ignored one stays ignored. Returns the id of the gap; null for a
 * message that was already recorded or is erased.
 */
export function record(db: Db, project: ProjectId, asked: UnansweredMessage): Promise<string | null> {
  return db.transaction(async (tx) => {
    const state = await sql.lockRecording.one<{ locked: string; hasWebhooks: boolean }>(tx, {
      recordLock: RECORD_LOCK,
      project,
    });

    const chat = await sql.lockChat.one(tx, { ticketId: asked.ticketId });
    const message = await sql.findMessage.one(tx, { messageId: asked.messageId });
    if (chat !== null && message === null) return null;
    const count = await sql.findExample.run(tx, { messageId: asked.messageId });
    if (count > 0) return null;
    const same = await findSame(tx, project, asked.terms);
    const id = same ?? (await insertGap(tx, project, asked));
    await sql.insertExample.run(tx, { ...asked, project, id, text: cut(asked.text) });
    let isFound = same === null;
    if (same !== null) {
      const counted = await sql.countQuestion.one(tx, { project, id, agentId: asked.agentId });
      isFound = counted?.isReopened === true;
      await sql.deleteOldTexts.run(tx, { id, project });
    }
    if (isFound && state?.hasWebhooks === true) {
      const { agentId } = asked;
      const found = {
        project,
        type: "gap.found",
        subjectId: id,
        ticketEventId: null,
        at: null,
        agentId,
      } as const;
      await recordEvents(tx, [found]);
    }
    return id;
  });
}

/** Returns a gap, or null if the project has none with this id. */
export async function find(db: Db, project: ProjectId, id: string): Promise<GapRecord | null> {
  const row = await sql.find.one<GapRow>(db, { project, id });
  return row === null ? null : asGap(row);
}

/**
 * A page of gaps, the most asked or the newest first: those after the cursor `after`, with `q` in the question, and of
 * one status; with the cursor of the next page, null at the end. Gaps that move while pages are read may be repeated or
 * skipped; an erased gap does not affect the others.
 */
export async function listPage(
  db: Db,
  project: ProjectId,
  { limit, after, q, status, sort }: GapListQuery,
): Promise<{ gaps: GapRecord[]; next: KeyPosition | null }> {
  // One extra row shows whether there is another page.
  const listed = { project, limit: limit + 1, id: after?.id, q, status, value: after?.value };
  const rows = await (sort === "count" ? sql.listByCount : sql.listByTime).all<GapRow & { value: number }>(db, listed);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > page.length && last !== undefined;
  return {
    gaps: page.map(({ value: _value, ...gap }) => asGap(gap)),
    next: hasMore ? { value: last.value, id: last.id } : null,
  };
}

/**
 * Changes the status, and records the article, if `versions` contains the current version or is null. `changed` is
 * false if it has another version; null if there is no such gap.
 */
export async function update(
  db: Db,
  project: ProjectId,
  { id, versions }: VersionedId,
  change: { status: GapStatus; article?: { kbId: string; documentId: string } },
): Promise<{ changed: boolean; gap: GapRecord } | null> {
  const count = await sql.update.run(db, {
    project,
    id,
    status: change.status,
    kbId: change.article?.kbId,
    documentId: change.article?.documentId,
    versions,
  });
  const gap = await find(db, project, id);
  return gap === null ? null : { changed: count > 0, gap };
}

/**
 * Removes the questions of these tickets from the gaps of a project: their examples, gap questions in their words
 * (another example replaces them), and gaps without any other example. Part of a transaction; locks the gaps in the
 * order of their ids. Returns the number of removed messages.
 */
export async function eraseGapsOfTickets(tx: Db, project: ProjectId, ticketIds: readonly string[]): Promise<number> {
  await sql.lockGapsOfTickets.run(tx, { project, ticketIds });
  const gone = await sql.deleteExamples.all(tx, { project, ticketIds });
  if (gone.length === 0) return 0;
  const gapIds = [...new Set(gone.map(({ gapId }) => gapId))];

  await sql.deleteEmptyGaps.run(tx, { project, gapIds });
  await sql.recount.run(tx, { project, gapIds });
  const reworded = await sql.replaceQuestion.all(tx, {
    project,
    gapIds,
    questionMessageId: gone.map(({ messageId }) => messageId),
  });
  const ids = reworded.map(({ id }) => id);
  await sql.deleteTerms.run(tx, { project, ids });
  await indexTerms(tx, project, ids);
  return gone.length;
}

/** Indexes the terms of these gaps, which are not indexed yet. */
const indexTerms = (tx: Db, project: ProjectId, gapIds: readonly string[]): Promise<void> =>
  sql.indexTerms.exec(tx, { project, gapIds });

const asGap = ({ kbId, documentId, examples, ...gap }: GapRow): GapRecord => ({
  ...gap,
  article: kbId === null || documentId === null ? null : { kbId, documentId },
  examples: examples.map(({ at, ...example }) => ({ ...example, at: new Date(at) })),
});
