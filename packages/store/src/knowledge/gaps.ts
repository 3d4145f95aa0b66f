import type { Db, VersionedId } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { recordEvents } from "../platform/webhooks.ts";
import { statements } from "../sql.ts";
import { GAP_LIMITS } from "@svc/contracts";
import type { GapListQuery, GapStatus, KeyPosition } from "@svc/contracts";

/** From this similarity on two questions count as one: chosen by `tests/packages/store/gap-groups.test.ts`. */
export const SAME_QUESTION = 0.7;

/** Terms that share fewer letters at their beginning are different words. */
const MIN_COMMON_CHARS = 4;

/** So much longer is a word that is made of another one: `livr`, `livraison`. */
const MAX_ENDING_CHARS = 5;

/** A shorter word with one letter changed is another word. */
const MIN_MISSPELT_CHARS = 6;

const HAS_DIGIT = /\p{N}/u;

/**
 * How much two questions ask the same, 0 to 1: twice the terms that they share, against all that they have. Two forms
 * of a word count as shared, and so does one with a slip of the pen; when each has a code or number that the other
 * lacks (`K-1050`, `K-2000`) they ask different things.
 */
export function similarityOf(one: readonly string[], other: readonly string[]): number {
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

/** A message that found no good answer. */
export interface UnansweredMessage {
  messageId: string;
  ticketId: string;
  /** As the customer wrote it. */
  text: string;
  /** What of it asks. */
  question: string;
  /** What it is compared by: the stems of the words that say what it is about. */
  terms: readonly string[];
  /** ISO 639-1; null where it is not clear. */
  language: string | null;
  /** Who should have answered; null when no agent fits. */
  agentId: string | null;
}

/** A question that found no good answer, with those that ask the same. */
export interface GapRecord {
  id: string;
  question: string;
  language: string | null;
  /** Who should have answered when it was asked last, and its knowledge bases. */
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

interface GapRow {
  id: string;
  question: string;
  language: string | null;
  agentId: string | null;
  kbIds: string[];
  count: number;
  status: GapStatus;
  kbId: string | null;
  documentId: string | null;
  createdAt: Date;
  lastAt: Date;
  version: number;
  examples: { text: string; ticketId: string; at: string }[];
}

const { textMaxChars: TEXT_CHARS, examplesMaxCount: EXAMPLES } = GAP_LIMITS;

/** Gaps that have the most terms in common with a question and are compared with it. */
const MAX_COMPARED = 100;

/**
 * Project-wide, distinct from the numbers of other advisory locks: questions of one project are noted one after the
 * other.
 */
const NOTE_LOCK = 7_236_013;

const sql = statements("knowledge/gaps", {
  examples: EXAMPLES,
  maxCompared: MAX_COMPARED,
});

/** Cuts a text without leaving half of a pair of surrogates. */
function cut(text: string): string {
  if (text.length <= TEXT_CHARS) return text;
  const end = TEXT_CHARS - 1;
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return `${text.slice(0, isHalf ? end - 1 : end)}…`;
}

async function findIn(db: Db, project: ProjectId, id: string, on: Db = db): Promise<GapRecord | null> {
  const row = await sql.find.one<GapRow>(on, { project, id });
  return row === null ? null : asGap(row);
}

/** The gap whose question asks the same, if any. */
async function findSame(tx: Db, project: ProjectId, terms: readonly string[]): Promise<string | null> {
  const rows = await sql.findSame.all<{ id: string; terms: string[] }>(tx, { project, terms });
  let best: { id: string; similarity: number } | null = null;
  for (const row of rows) {
    const similarity = similarityOf(terms, row.terms);
    if (similarity >= SAME_QUESTION && similarity > (best?.similarity ?? 0)) best = { id: row.id, similarity };
  }
  return best?.id ?? null;
}

async function insertGap(tx: Db, project: ProjectId, asked: UnansweredMessage): Promise<string> {
  const id = newId();
  await sql.insertGap.run(tx, {
    id,
    project,
    question: cut(asked.question),
    messageId: asked.messageId,
    language: asked.language,
    terms: asked.terms,
    agentId: asked.agentId,
  });
  await indexTerms(tx, project, [id]);
  return id;
}

/**
 * Notes a message that found no good answer, with the gap that asks the same or as a new one; a message that was noted
 * before changes nothing. A gap that was answered is open again, one that is ignored stays so. Returns the id of the
 * gap, null for a message that was noted before or is erased.
 */
export function note(db: Db, project: ProjectId, asked: UnansweredMessage): Promise<string | null> {
  return db.transaction(async (tx) => {
    const state = await sql.lockNotes.one<{ locked: string; hasWebhooks: boolean }>(tx, {
      noteLock: NOTE_LOCK,
      project,
    });

    const chat = await sql.lockChat.one(tx, { ticketId: asked.ticketId });
    const message = await sql.findMessage.one(tx, { messageId: asked.messageId });
    if (chat !== null && message === null) return null;
    const count = await sql.findExample.run(tx, { messageId: asked.messageId });
    if (count > 0) return null;
    const same = await findSame(tx, project, asked.terms);
    const id = same ?? (await insertGap(tx, project, asked));
    await sql.insertExample.run(tx, {
      messageId: asked.messageId,
      project,
      id,
      ticketId: asked.ticketId,
      text: cut(asked.text),
      terms: asked.terms,
    });
    let isFound = same === null;
    if (same !== null) {
      const counted = await sql.countQuestion.one<{ isReopened: boolean }>(tx, { project, id, agentId: asked.agentId });
      isFound = counted?.isReopened === true;
      await sql.forgetOldTexts.run(tx, { id, project });
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
export const find = (db: Db, project: ProjectId, id: string): Promise<GapRecord | null> => findIn(db, project, id);

/**
 * A page of gaps, the most asked or the newest first: those behind the place `after`, with `q` in the question, and of
 * one status; and after which place the next page continues, null at the end. What moves while pages are read may come
 * twice or not at all; a gap that is erased meanwhile changes nothing for the others.
 */
export async function listPage(
  db: Db,
  project: ProjectId,
  { limit, after, q, status, sort }: GapListQuery,
): Promise<{ gaps: GapRecord[]; next: KeyPosition | null }> {
  // One row more than asked for tells whether there is another page.
  const listed = { project, limit: limit + 1, id: after?.id, q, status, value: after?.value };
  const rows = await (sort === "count" ? sql.listByCount : sql.listByTime).all<GapRow & { value: number }>(db, listed);
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const hasMore = rows.length > page.length && last !== undefined;
  return { gaps: page.map(asGap), next: hasMore ? { value: last.value, id: last.id } : null };
}

/**
 * Changes the status, and notes the article that was written, where `versions` has the current version or is null.
 * `changed` is false when it has another one; null when there is no such gap.
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
  const gap = await findIn(db, project, id);
  return gap === null ? null : { changed: count > 0, gap };
}

/**
 * Removes what these tickets have asked from the gaps of a project: their examples, questions that stand in their words
 * (another example takes their place), and gaps that nobody else has asked. Part of a transaction; locks the gaps in
 * the order of their ids. Returns how many messages were removed.
 */
export async function eraseGapsOfTickets(tx: Db, project: ProjectId, ticketIds: readonly string[]): Promise<number> {
  await sql.lockGapsOfTickets.run(tx, { project, ticketIds });
  const gone = await sql.deleteExamples.all<{ gapId: string; messageId: string }>(tx, { project, ticketIds });
  if (gone.length === 0) return 0;
  const gapIds = [...new Set(gone.map(({ gapId }) => gapId))];

  await sql.deleteEmptyGaps.run(tx, { project, gapIds });
  await sql.recount.run(tx, { project, gapIds });
  const reworded = await sql.replaceQuestion.all<{ id: string }>(tx, {
    project,
    gapIds,
    questionMessageId: gone.map(({ messageId }) => messageId),
  });
  const ids = reworded.map(({ id }) => id);
  await sql.deleteTerms.run(tx, { project, ids });
  await indexTerms(tx, project, ids);
  return gone.length;
}

/** Makes the index of the terms of these gaps, which have none in it yet. */
async function indexTerms(tx: Db, project: ProjectId, gapIds: readonly string[]): Promise<void> {
  await sql.indexTerms.run(tx, { project, gapIds });
}

function asGap(row: GapRow): GapRecord {
  const { kbId, documentId } = row;
  return {
    id: row.id,
    question: row.question,
    language: row.language,
    agentId: row.agentId,
    kbIds: row.kbIds,
    count: row.count,
    status: row.status,
    article: kbId === null || documentId === null ? null : { kbId, documentId },
    examples: row.examples.map(({ text, ticketId, at }) => ({ text, ticketId, at: new Date(at) })),
    createdAt: row.createdAt,
    lastAt: row.lastAt,
    version: row.version,
  };
}
