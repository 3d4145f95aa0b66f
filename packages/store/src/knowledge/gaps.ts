import { GAP_LIMITS } from "@svc/contracts";
import type { GapListQuery, GapSort, GapStatus, KeyPlace } from "@svc/contracts";
import type { Db } from "../db.ts";
import { SAME_QUESTION, similarityOf } from "./gap-similarity.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { microsecondsOf } from "../tickets/ticket-keys.ts";

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
  agent_id: string | null;
  kb_ids: string[];
  count: number;
  status: GapStatus;
  kb_id: string | null;
  document_id: string | null;
  created_at: Date;
  last_at: Date;
  version: number;
  examples: { text: string; ticket_id: string; at: string }[];
}

const { textMaxChars: TEXT_CHARS, examplesMaxCount: EXAMPLES } = GAP_LIMITS;

/** Gaps that have the most terms in common with a question and are compared with it. */
const MAX_COMPARED = 100;

/** Project-wide, beside the numbers of other advisory locks: questions of one project are noted one after the other. */
const NOTE_LOCK = 7_236_013;

const COLUMNS = `g.id, g.question, g.language, g.agent_id, g.count, g.status, g.kb_id, g.document_id, g.created_at,
  g.last_at, g.version, coalesce(a.kb_ids, '{}') AS kb_ids`;

const WITH_AGENT = "gaps g LEFT JOIN agents a ON a.id = g.agent_id AND a.project_id = g.project_id";

// By the index on a gap's examples, newest first; those without a text are older.
const EXAMPLES_OF = `(SELECT coalesce(jsonb_agg(jsonb_build_object('text', e.text, 'ticket_id', e.ticket_id, 'at', e.at)
    ORDER BY e.at DESC, e.message_id DESC), '[]'::jsonb)
  FROM (SELECT message_id, text, ticket_id, at FROM gap_examples
    WHERE gap_id = g.id AND project_id = g.project_id AND text IS NOT NULL
    ORDER BY at DESC, message_id DESC LIMIT ${EXAMPLES}) e) AS examples`;

/** What a page of gaps is ordered by, each by an index; as a whole number, and made of that again. */
const SORTS = {
  count: { column: "count", value: "g.count", place: "$6::bigint" },
  lastAt: {
    column: "last_at",
    value: microsecondsOf("g.last_at"),
    place: "timestamptz 'epoch' + $6::bigint * interval '1 microsecond'",
  },
} as const satisfies Record<GapSort, object>;

/** Cuts a text without leaving half of a pair of surrogates. */
function cut(text: string): string {
  if (text.length <= TEXT_CHARS) return text;
  const end = TEXT_CHARS - 1;
  const isHalf = /[\uD800-\uDBFF]/.test(text.charAt(end - 1));
  return `${text.slice(0, isHalf ? end - 1 : end)}…`;
}

/** Questions that found no good answer. */
export function gapsTable(db: Db) {
  async function find(project: ProjectId, id: string, on: Db = db): Promise<GapRecord | null> {
    const rows = await on.query<GapRow>(
      `SELECT ${COLUMNS}, ${EXAMPLES_OF} FROM ${WITH_AGENT} WHERE g.project_id = $1 AND g.id = $2`,
      [project, id],
    );
    const row = rows[0];
    return row === undefined ? null : asGap(row);
  }

  /** The gap whose question asks the same, if any. */
  async function findSame(tx: Db, project: ProjectId, terms: readonly string[]): Promise<string | null> {
    // By the index on terms: it reads the gaps that share a word with the question, and no other ones.
    const rows = await tx.query<{ id: string; terms: string[] }>(
      `SELECT g.id, g.terms FROM (
         SELECT gap_id, count(*) AS shared FROM gap_terms WHERE project_id = $1 AND term = ANY ($2::text[])
         GROUP BY gap_id ORDER BY shared DESC, gap_id LIMIT ${MAX_COMPARED}
       ) t JOIN gaps g ON g.id = t.gap_id AND g.project_id = $1 ORDER BY t.shared DESC, g.id`,
      [project, terms],
    );
    let best: { id: string; similarity: number } | null = null;
    for (const row of rows) {
      const similarity = similarityOf(terms, row.terms);
      if (similarity >= SAME_QUESTION && similarity > (best?.similarity ?? 0)) best = { id: row.id, similarity };
    }
    return best?.id ?? null;
  }

  async function insertGap(tx: Db, project: ProjectId, asked: UnansweredMessage): Promise<string> {
    const id = newId();
    await tx.query(
      `INSERT INTO gaps (id, project_id, question, question_message_id, language, terms, agent_id)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [id, project, cut(asked.question), asked.messageId, asked.language, asked.terms, asked.agentId],
    );
    await indexTerms(tx, project, [id]);
    return id;
  }

  return {
    /**
     * Notes a message that found no good answer, with the gap that asks the same or as a new one; a message that was noted
     * before changes nothing. A gap that was answered is open again, one that is ignored stays so. Answers the id of the
     * gap, null for a message that was noted before or is erased.
     */
    note(project: ProjectId, asked: UnansweredMessage): Promise<string | null> {
      return db.transaction(async (tx) => {
        // One after the other within a project: two at once would each make a gap of the same question.
        await tx.query("SELECT pg_advisory_xact_lock($1, hashtext($2))", [NOTE_LOCK, project]);
        // Nothing is noted of a conversation that was erased meanwhile. Its chat stays, and is locked against an erasure.
        const [chat] = await tx.query("SELECT 1 FROM chats WHERE ticket_id = $1 FOR KEY SHARE", [asked.ticketId]);
        const [message] = await tx.query("SELECT 1 FROM messages WHERE id = $1", [asked.messageId]);
        if (chat !== undefined && message === undefined) return null;
        const noted = await tx.query("SELECT 1 FROM gap_examples WHERE message_id = $1", [asked.messageId]);
        if (noted.length > 0) return null;
        const same = await findSame(tx, project, asked.terms);
        const id = same ?? (await insertGap(tx, project, asked));
        await tx.query(
          `INSERT INTO gap_examples (message_id, project_id, gap_id, ticket_id, text, terms)
           VALUES ($1, $2, $3, $4, $5, $6)`,
          [asked.messageId, project, id, asked.ticketId, cut(asked.text), asked.terms],
        );
        if (same === null) return id;
        // The version stays: who decides on a gap decides on its question, not on how often it was asked.
        await tx.query(
          `UPDATE gaps SET count = count + 1, last_at = now(), agent_id = coalesce($3, agent_id),
             status = CASE WHEN status = 'answered' THEN 'open' ELSE status END,
             version = version + CASE WHEN status = 'answered' THEN 1 ELSE 0 END
           WHERE project_id = $1 AND id = $2`,
          [project, id, asked.agentId],
        );
        await tx.query(
          `UPDATE gap_examples SET text = NULL, terms = NULL WHERE message_id IN (
             SELECT message_id FROM gap_examples WHERE gap_id = $1 AND project_id = $2 AND text IS NOT NULL
             ORDER BY at DESC, message_id DESC OFFSET ${EXAMPLES})`,
          [id, project],
        );
        return id;
      });
    },

    find: (project: ProjectId, id: string): Promise<GapRecord | null> => find(project, id),

    /**
     * A page of gaps, the most asked or the newest first: those behind the place `after`, with `q` in the question, and of
     * one status; and after which place the next page goes on, null at the end. What moves while pages are read may come
     * twice or not at all; a gap that is erased meanwhile changes nothing for the others.
     */
    async listPage(
      project: ProjectId,
      { limit, after, q, status, sort }: GapListQuery,
    ): Promise<{ gaps: GapRecord[]; next: KeyPlace | null }> {
      const { column, value, place } = SORTS[sort];
      // One row more than asked for tells whether there is another page.
      const rows = await db.query<GapRow & { value: number }>(
        `SELECT ${COLUMNS}, ${value} AS value, ${EXAMPLES_OF} FROM ${WITH_AGENT}
         WHERE g.project_id = $1 AND ($5::text IS NULL OR g.status = $5)
           AND ($3::uuid IS NULL OR (g.${column}, g.id) < (${place}, $3))
           AND ($4::text IS NULL OR strpos(lower(g.question), lower($4)) > 0)
         ORDER BY g.${column} DESC, g.id DESC LIMIT $2`,
        [project, limit + 1, after?.id ?? null, q ?? null, status ?? null, after?.value ?? null],
      );
      const page = rows.slice(0, limit);
      const last = page.at(-1);
      const hasMore = rows.length > page.length && last !== undefined;
      return { gaps: page.map(asGap), next: hasMore ? { value: last.value, id: last.id } : null };
    },

    /**
     * Changes the status, and notes the article that was written, where `versions` has the present version or is null.
     * `changed` is false when it has another one; null when there is no such gap.
     */
    async update(
      project: ProjectId,
      id: string,
      change: { status: GapStatus; article?: { kbId: string; documentId: string } },
      versions: readonly number[] | null,
    ): Promise<{ changed: boolean; gap: GapRecord } | null> {
      const rows = await db.query(
        `UPDATE gaps SET status = $3, kb_id = coalesce($4, kb_id), document_id = coalesce($5, document_id),
           version = version + 1
         WHERE project_id = $1 AND id = $2 AND ($6::integer[] IS NULL OR version = ANY ($6)) RETURNING id`,
        [project, id, change.status, change.article?.kbId ?? null, change.article?.documentId ?? null, versions],
      );
      const gap = await find(project, id);
      return gap === null ? null : { changed: rows.length > 0, gap };
    },
  };
}

/**
 * Removes what these tickets have asked from the gaps of a project: their examples, questions that stand in their words
 * (another example takes their place), and gaps that nobody else has asked. Part of a transaction; locks the gaps in the
 * order of their ids. Answers how many messages were removed.
 */
export async function eraseGapsOfTickets(tx: Db, project: ProjectId, ticketIds: readonly string[]): Promise<number> {
  await tx.query(
    `SELECT id FROM gaps WHERE project_id = $1 AND id IN (
       SELECT gap_id FROM gap_examples WHERE project_id = $1 AND ticket_id = ANY ($2::uuid[])
     ) ORDER BY id FOR UPDATE`,
    [project, ticketIds],
  );
  const gone = await tx.query<{ gap_id: string; message_id: string }>(
    "DELETE FROM gap_examples WHERE project_id = $1 AND ticket_id = ANY ($2::uuid[]) RETURNING gap_id, message_id",
    [project, ticketIds],
  );
  if (gone.length === 0) return 0;
  const gapIds = [...new Set(gone.map(({ gap_id }) => gap_id))];
  // Without an example that has a text, nothing that another customer has written is left.
  await tx.query(
    `DELETE FROM gaps g WHERE g.project_id = $1 AND g.id = ANY ($2::uuid[]) AND NOT EXISTS (
       SELECT 1 FROM gap_examples e WHERE e.gap_id = g.id AND e.text IS NOT NULL)`,
    [project, gapIds],
  );
  await tx.query(
    `UPDATE gaps g SET count = (SELECT count(*) FROM gap_examples e WHERE e.gap_id = g.id),
       last_at = (SELECT max(e.at) FROM gap_examples e WHERE e.gap_id = g.id)
     WHERE g.project_id = $1 AND g.id = ANY ($2::uuid[])`,
    [project, gapIds],
  );
  const reworded = await tx.query<{ id: string }>(
    `UPDATE gaps g SET question = e.text, terms = e.terms, question_message_id = e.message_id, version = g.version + 1
     FROM (SELECT DISTINCT ON (gap_id) gap_id, message_id, text, terms FROM gap_examples
       WHERE project_id = $1 AND gap_id = ANY ($2::uuid[]) AND text IS NOT NULL
       ORDER BY gap_id, at, message_id) e
     WHERE g.id = e.gap_id AND g.project_id = $1 AND g.question_message_id = ANY ($3::uuid[])
     RETURNING g.id`,
    [project, gapIds, gone.map(({ message_id }) => message_id)],
  );
  const ids = reworded.map(({ id }) => id);
  await tx.query("DELETE FROM gap_terms WHERE project_id = $1 AND gap_id = ANY ($2::uuid[])", [project, ids]);
  await indexTerms(tx, project, ids);
  return gone.length;
}

/** Makes the index of the terms of these gaps, which have none in it yet. */
async function indexTerms(tx: Db, project: ProjectId, gapIds: readonly string[]): Promise<void> {
  await tx.query(
    `INSERT INTO gap_terms (project_id, term, gap_id)
     SELECT DISTINCT g.project_id, t.term, g.id FROM gaps g CROSS JOIN unnest(g.terms) AS t (term)
     WHERE g.project_id = $1 AND g.id = ANY ($2::uuid[])`,
    [project, gapIds],
  );
}

function asGap(row: GapRow): GapRecord {
  const { kb_id: kbId, document_id: documentId } = row;
  return {
    id: row.id,
    question: row.question,
    language: row.language,
    agentId: row.agent_id,
    kbIds: row.kb_ids,
    count: row.count,
    status: row.status,
    article: kbId === null || documentId === null ? null : { kbId, documentId },
    examples: row.examples.map(({ text, ticket_id, at }) => ({ text, ticketId: ticket_id, at: new Date(at) })),
    createdAt: row.created_at,
    lastAt: row.last_at,
    version: row.version,
  };
}
