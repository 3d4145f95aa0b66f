import { ServiceError } from "@svc/contracts";
import type { ProposalStatus, Source } from "@svc/contracts";
import type { IndexedChunks } from "./chunks.ts";
import type { Db } from "../db.ts";
import { documentsTable } from "./documents.ts";
import type { NewDocument } from "./documents.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { putDocuments } from "./put-documents.ts";

/** A change to a knowledge base that somebody has to decide on. */
export interface NewProposal {
  kbId: string;
  /** The document that is changed or added to; null for a new article. */
  documentId: string | null;
  ticketId: string | null;
  action: "replace" | "add";
  title: string;
  question: string | null;
  before: string;
  after: string;
  /** Of the document, when this was proposed; null without one. */
  baseHash: Buffer | null;
  /** Who proposes it. */
  createdBy: string;
}

/** A proposal and what has become of it. */
export interface ProposalRecord extends NewProposal {
  id: string;
  status: ProposalStatus;
  reason: string | null;
  createdAt: Date;
  decidedAt: Date | null;
  decidedBy: string | null;
  /** The document that an accepted one has become part of. */
  resultDocumentId: string | null;
  version: number;
}

/** A document that a proposal would change. */
export interface ProposalTarget {
  id: string;
  key: string;
  title: string;
  url: string | null;
  /** Of the text that its passages were cut from. */
  mime: string;
  /** What that text was read from; null where it was handed in as it is. */
  sourceMime: string | null;
  contentHash: Buffer;
  chunkCount: number;
}

/** The last answer that a person has given in a conversation. */
export interface OperatorAnswer {
  text: string;
  sources: Source[];
  /** The message that it answers. */
  question: string | null;
  agentId: string | null;
}

/**
 * What became of a decision: `stale` when the proposal has another version, `decided` when it was decided otherwise,
 * `changed` when the document is not as it was when this was proposed.
 */
export interface ProposalOutcome {
  result: "done" | "stale" | "decided" | "changed";
  proposal: ProposalRecord;
}

interface ProposalRow {
  id: string;
  kb_id: string;
  document_id: string | null;
  ticket_id: string | null;
  action: "replace" | "add";
  title: string;
  question: string | null;
  before: string;
  after: string;
  base_hash: Buffer | null;
  status: ProposalStatus;
  reason: string | null;
  created_at: Date;
  created_by: string;
  decided_at: Date | null;
  decided_by: string | null;
  result_document_id: string | null;
  version: number;
}

const COLUMNS = `id, kb_id, document_id, ticket_id, action, title, question, before, after, base_hash, status, reason,
  created_at, created_by, decided_at, decided_by, result_document_id, version`;

/** Proposed changes to knowledge bases. */
export function proposalsTable(db: Db) {
  const documents = documentsTable(db);

  async function find(project: ProjectId, id: string): Promise<ProposalRecord | null> {
    const rows = await db.query<ProposalRow>(`SELECT ${COLUMNS} FROM proposals WHERE project_id = $1 AND id = $2`, [
      project,
      id,
    ]);
    const row = rows[0];
    return row === undefined ? null : asProposal(row);
  }

  /**
   * Locks a proposal and does `work` if it is open and has an expected version. Two decisions come one after the other;
   * the second one finds what the first has done.
   */
  async function decide(
    project: ProjectId,
    id: string,
    { versions, wanted }: { versions: readonly number[] | null; wanted: ProposalStatus },
    work: (tx: Db, proposal: ProposalRecord) => Promise<ProposalRow | null>,
  ): Promise<ProposalOutcome | null> {
    return db.transaction(async (tx) => {
      const [row] = await tx.query<ProposalRow>(
        `SELECT ${COLUMNS} FROM proposals WHERE project_id = $1 AND id = $2 FOR UPDATE`,
        [project, id],
      );
      if (row === undefined) return null;
      const proposal = asProposal(row);
      if (row.status === wanted) return { result: "done", proposal };
      if (row.status !== "open") return { result: "decided", proposal };
      if (versions !== null && !versions.includes(row.version)) return { result: "stale", proposal };
      const decided = await work(tx, proposal);
      return decided === null ? { result: "changed", proposal } : { result: "done", proposal: asProposal(decided) };
    });
  }

  async function mark(
    tx: Db,
    project: ProjectId,
    id: string,
    decision: {
      status: ProposalStatus;
      by: string;
      reason?: string | null;
      action?: string;
      resultDocumentId?: string;
    },
  ): Promise<ProposalRow | null> {
    const rows = await tx.query<ProposalRow>(
      `UPDATE proposals SET status = $3, decided_by = $4, decided_at = now(), reason = $5,
         action = coalesce($6, action), result_document_id = $7, version = version + 1
       WHERE project_id = $1 AND id = $2 RETURNING ${COLUMNS}`,
      [
        project,
        id,
        decision.status,
        decision.by,
        decision.reason ?? null,
        decision.action ?? null,
        decision.resultDocumentId ?? null,
      ],
    );
    return rows[0] ?? null;
  }

  return {
    find,

    /** Keeps a proposal for somebody to decide on. Throws not_found when its conversation was erased in this moment. */
    async insert(project: ProjectId, proposal: NewProposal): Promise<ProposalRecord> {
      const [row] = await db.query<ProposalRow>(
        // The chat is locked against an erasure, and an erased one has no chat_id.
        `WITH chat AS MATERIALIZED (SELECT chat_id FROM chats WHERE ticket_id = $5::uuid FOR KEY SHARE)
         INSERT INTO proposals (id, project_id, kb_id, document_id, ticket_id, action, title, question, before, after,
           base_hash, created_by)
         SELECT $1::uuid, $2::uuid, $3::uuid, $4::uuid, $5::uuid, $6, $7, $8, $9, $10, $11::bytea, $12
         WHERE NOT EXISTS (SELECT 1 FROM chat WHERE chat_id = '') RETURNING ${COLUMNS}`,
        [
          newId(),
          project,
          proposal.kbId,
          proposal.documentId,
          proposal.ticketId,
          proposal.action,
          proposal.title,
          proposal.question,
          proposal.before,
          proposal.after,
          proposal.baseHash,
          proposal.createdBy,
        ],
      );
      if (row === undefined) throw new ServiceError("not_found", "No ticket with this ID exists in this project.");
      return asProposal(row);
    },

    /**
     * Proposals, newest first: those made before the one with the id `before`, with `q` in title or text, of one status
     * and for one knowledge base. Without `searchesQuestions` no `q` finds what a customer has asked and nobody accepted.
     */
    async listPage(
      project: ProjectId,
      options: {
        limit: number;
        before?: string | undefined;
        q?: string | undefined;
        status?: ProposalStatus | undefined;
        kbId?: string | undefined;
        searchesQuestions: boolean;
      },
    ): Promise<ProposalRecord[]> {
      const rows = await db.query<ProposalRow>(
        `SELECT ${COLUMNS} FROM proposals
         WHERE project_id = $1 AND ($3::uuid IS NULL OR id < $3)
           AND ($4::text IS NULL OR strpos(lower(title), lower($4)) > 0 OR strpos(lower(after), lower($4)) > 0)
           AND ($4::text IS NULL OR $7 OR question IS NULL OR status = 'accepted')
           AND ($5::text IS NULL OR status = $5) AND ($6::uuid IS NULL OR kb_id = $6)
         ORDER BY id DESC LIMIT $2`,
        [
          project,
          options.limit,
          options.before ?? null,
          options.q ?? null,
          options.status ?? null,
          options.kbId ?? null,
          options.searchesQuestions,
        ],
      );
      return rows.map(asProposal);
    },

    /** A document that can be found and may be changed, or null. */
    async findTarget(project: ProjectId, documentId: string): Promise<(ProposalTarget & { kbId: string }) | null> {
      const rows = await db.query<{
        id: string;
        kb_id: string;
        key: string;
        title: string;
        url: string | null;
        mime: string;
        source_mime: string | null;
        content_hash: Buffer;
        chunk_count: number;
      }>(
        `SELECT d.id, d.kb_id, d.key, d.title, d.url, d.mime, d.content_hash, d.chunk_count,
           CASE WHEN d.source_content_hash = d.content_hash THEN d.source_mime END AS source_mime
         FROM documents d JOIN kbs k ON k.id = d.kb_id AND k.project_id = $1 AND k.deleted_at IS NULL
         WHERE d.project_id = $1 AND d.id = $2 AND d.status = 'ready'`,
        [project, documentId],
      );
      const row = rows[0];
      if (row === undefined) return null;
      return {
        id: row.id,
        kbId: row.kb_id,
        key: row.key,
        title: row.title,
        url: row.url,
        mime: row.mime,
        sourceMime: row.source_mime,
        contentHash: row.content_hash,
        chunkCount: row.chunk_count,
      };
    },

    /** The last text that a person has sent in a conversation that this project works on, or null. */
    async findOperatorAnswer(project: ProjectId, ticketId: string): Promise<OperatorAnswer | null> {
      const rows = await db.query<{
        text: string;
        sources: Source[] | null;
        question: string | null;
        agent_id: string | null;
      }>(
        // What is said in a chat belongs to the project where it came in, by the index on the places of its replies.
        `SELECT r.text, r.sources, t.agent_id, (
           SELECT m.text FROM messages m WHERE m.ticket_id = t.id AND m.project_id = t.home_project_id AND m.seq < r.seq
           ORDER BY m.seq DESC LIMIT 1) AS question
         FROM tickets t JOIN replies r ON r.ticket_id = t.id AND r.project_id = t.home_project_id
         WHERE t.project_id = $1 AND t.id = $2 AND r.author = 'operator' AND r.type = 'message' AND r.text IS NOT NULL
         ORDER BY r.seq DESC LIMIT 1`,
        [project, ticketId],
      );
      const row = rows[0];
      if (row === undefined) return null;
      return { text: row.text, sources: row.sources ?? [], question: row.question, agentId: row.agent_id };
    },

    /** What was asked last in a conversation that this project works on, and the agent that has it; or null. */
    async findQuestion(project: ProjectId, ticketId: string): Promise<Omit<OperatorAnswer, "text" | "sources"> | null> {
      const rows = await db.query<{ question: string | null; agent_id: string | null }>(
        `SELECT t.agent_id, (SELECT m.text FROM messages m WHERE m.ticket_id = t.id
           AND m.project_id = t.home_project_id ORDER BY m.seq DESC LIMIT 1) AS question
         FROM tickets t WHERE t.project_id = $1 AND t.id = $2`,
        [project, ticketId],
      );
      const row = rows[0];
      return row === undefined ? null : { question: row.question, agentId: row.agent_id };
    },

    /**
     * Accepts a proposal and puts its document, in one transaction: a search finds the new text or the proposal is still
     * open. One that was accepted before is left as it is. `replaces` is the document as it was proposed for: when it has
     * another text by now, or waits to be read anew, nothing is done. It keeps what it was read from, so that handing in
     * the same source again does not undo the change. Null when there is no such proposal; throws `not_found` when there
     * is no such knowledge base any more.
     */
    async accept(
      project: ProjectId,
      id: string,
      decision: {
        versions: readonly number[] | null;
        by: string;
        kbId: string;
        document: NewDocument;
        indexed: IndexedChunks;
        replaces: { id: string; contentHash: Buffer } | null;
      },
    ): Promise<ProposalOutcome | null> {
      // Outside the transaction, since whoever puts into the same base waits for its end.
      const item = await documents.prepare(decision.document, decision.indexed);
      const { kbId, replaces, versions, by } = decision;
      return decide(project, id, { versions, wanted: "accepted" }, async (tx) => {
        if (replaces !== null) {
          // As in a put: whoever changes documents of one base takes turns, the base before its documents.
          const kbs = await tx.query(
            "SELECT id FROM kbs WHERE project_id = $1 AND id = $2 AND deleted_at IS NULL FOR NO KEY UPDATE",
            [project, kbId],
          );
          if (kbs.length === 0) throw new ServiceError("not_found", "The knowledge base of this proposal was deleted.");
          const same = await tx.query(
            `SELECT id FROM documents d WHERE d.project_id = $1 AND d.kb_id = $2 AND d.id = $3 AND d.content_hash = $4
               AND d.status = 'ready' AND NOT EXISTS (SELECT 1 FROM ingests i WHERE i.document_id = d.id)
             FOR UPDATE`,
            [project, kbId, replaces.id, replaces.contentHash],
          );
          if (same.length === 0) return null;
        }
        const [put] = await putDocuments(tx, project, kbId, [item]);
        if (put === undefined) throw new Error("the document of a proposal was not stored");
        if (replaces !== null) {
          await tx.query(
            `UPDATE documents SET source_content_hash = content_hash
             WHERE project_id = $1 AND id = $2 AND source_content_hash = $3`,
            [project, replaces.id, replaces.contentHash],
          );
        }
        const action = replaces === null ? "add" : "replace";
        return mark(tx, project, id, { status: "accepted", by, action, resultDocumentId: put.documentId });
      });
    },

    /** Rejects a proposal; one that was rejected before is left as it is. Null when there is no such proposal. */
    reject: (
      project: ProjectId,
      id: string,
      decision: { versions: readonly number[] | null; by: string; reason: string | null },
    ): Promise<ProposalOutcome | null> =>
      decide(project, id, { versions: decision.versions, wanted: "rejected" }, (tx) =>
        mark(tx, project, id, { status: "rejected", by: decision.by, reason: decision.reason }),
      ),
  };
}

function asProposal(row: ProposalRow): ProposalRecord {
  return {
    id: row.id,
    kbId: row.kb_id,
    documentId: row.document_id,
    ticketId: row.ticket_id,
    action: row.action,
    title: row.title,
    question: row.question,
    before: row.before,
    after: row.after,
    baseHash: row.base_hash,
    status: row.status,
    reason: row.reason,
    createdAt: row.created_at,
    createdBy: row.created_by,
    decidedAt: row.decided_at,
    decidedBy: row.decided_by,
    resultDocumentId: row.result_document_id,
    version: row.version,
  };
}
