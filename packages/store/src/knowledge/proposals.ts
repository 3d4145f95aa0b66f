import { ServiceError } from "@svc/contracts";
import type { ProposalStatus, Source } from "@svc/contracts";
import type { IndexedChunks } from "./chunks.ts";
import type { Db, PageQuery } from "../db.ts";
import { prepare } from "./documents.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { putDocuments } from "./put-documents.ts";
import type { NewDocument } from "./put-documents.ts";
import { statements } from "../sql.ts";

const sql = statements("knowledge/proposals");

/** A change to a knowledge base that requires a decision. */
export interface NewProposal {
  kbId: string;
  /** The document to change; null for a new article. */
  documentId: string | null;
  ticketId: string | null;
  action: "replace" | "add";
  title: string;
  question: string | null;
  before: string;
  after: string;
  /** Content hash of the document at the time of the proposal; null without a document. */
  baseHash: Buffer | null;
  /** Who proposes it. */
  createdBy: string;
}

/** A proposal and the decision on it. */
export interface ProposalRecord extends NewProposal {
  id: string;
  status: ProposalStatus;
  reason: string | null;
  createdAt: Date;
  decidedAt: Date | null;
  decidedBy: string | null;
  /** The document that an accepted proposal was written to. */
  resultDocumentId: string | null;
  version: number;
}

/** A document that a proposal would change. */
export interface ProposalTarget {
  id: string;
  key: string;
  title: string;
  url: string | null;
  /** Media type of the text that was split into passages. */
  mime: string;
  /** Media type of the source of that text; null if the text itself was submitted. */
  sourceMime: string | null;
  contentHash: Buffer;
  chunkCount: number;
}

/** The last answer of a person in a conversation. */
export interface OperatorAnswer {
  text: string;
  sources: Source[];
  /** The message that it answers. */
  question: string | null;
  agentId: string | null;
}

/**
 * Result of a decision: `stale` if the proposal has another version, `decided` if there is another decision, `changed`
 * if the document has changed since the proposal.
 */
export interface ProposalOutcome {
  result: "done" | "stale" | "decided" | "changed";
  proposal: ProposalRecord;
}

/** Returns a proposal, or null if the project has none with this id. */
export const find = (db: Db, project: ProjectId, id: string) => sql.find.one<ProposalRecord>(db, { project, id });

/**
 * Locks a proposal and runs `work` if it is open and has an expected version. Decisions are serialized; the second one
 * finds the result of the first.
 */
async function decide(
  db: Db,
  project: ProjectId,
  { id, versions, wanted }: { id: string; versions: readonly number[] | null; wanted: ProposalStatus },
  work: (tx: Db, proposal: ProposalRecord) => Promise<ProposalRecord | null>,
): Promise<ProposalOutcome | null> {
  return db.transaction(async (tx) => {
    const row = await sql.lock.one<ProposalRecord>(tx, { project, id });
    if (row === null) return null;
    const proposal = row;
    if (row.status === wanted) return { result: "done", proposal };
    if (row.status !== "open") return { result: "decided", proposal };
    if (versions !== null && !versions.includes(row.version)) return { result: "stale", proposal };
    const decided = await work(tx, proposal);
    return decided === null ? { result: "changed", proposal } : { result: "done", proposal: decided };
  });
}

const mark = (
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
): Promise<ProposalRecord | null> =>
  sql.mark.one<ProposalRecord>(tx, {
    project,
    id,
    action: null,
    reason: null,
    resultDocumentId: null,
    ...decision,
  });

/** Stores a proposal for a decision. Throws not_found if its conversation was just erased. */
export async function insert(db: Db, project: ProjectId, proposal: NewProposal): Promise<ProposalRecord> {
  const row = await sql.insert.one<ProposalRecord>(db, { id: newId(), project, ...proposal });
  if (row === null) throw new ServiceError("not_found", "No ticket with this ID exists in this project.");
  return row;
}

/**
 * Returns proposals, newest first: those created before the one with id `before`, with `q` in title or text, of one
 * status and for one knowledge base. Without `searchesQuestions`, `q` does not match customers' questions of proposals
 * that were not accepted.
 */
export const listPage = (
  db: Db,
  project: ProjectId,
  {
    limit,
    before,
    q,
    status,
    kbId,
    searchesQuestions,
  }: PageQuery & {
    status?: ProposalStatus | undefined;
    kbId?: string | undefined;
    searchesQuestions: boolean;
  },
) => sql.listPage.all<ProposalRecord>(db, { project, limit, before, q, status, kbId, searchesQuestions });

/** Returns a document that is searchable and may be changed, or null. */
export const findTarget = (db: Db, project: ProjectId, documentId: string) =>
  sql.findTarget.one<ProposalTarget & { kbId: string }>(db, { project, documentId });

/** Returns the last text that a person sent in a conversation that this project works on, or null. */
export async function findOperatorAnswer(db: Db, project: ProjectId, ticketId: string): Promise<OperatorAnswer | null> {
  type Row = Omit<OperatorAnswer, "sources"> & { sources: Source[] | null };
  const row = await sql.findOperatorAnswer.one<Row>(db, { project, ticketId });
  return row === null ? null : { ...row, sources: row.sources ?? [] };
}

/** Returns the last question of a conversation that this project works on, and its agent; or null. */
export const findQuestion = (db: Db, project: ProjectId, ticketId: string) =>
  sql.findQuestion.one<Omit<OperatorAnswer, "text" | "sources">>(db, { project, ticketId });

/**
 * Accepts a proposal and puts its document, in one transaction: a search finds the new text or the proposal is still
 * open. An accepted proposal is unchanged. `replaces` is the document at the time of the proposal: if it has another
 * text now, or is queued to be read again, nothing changes. The document keeps its source, so that submitting the same
 * source again does not undo the change. Null if there is no such proposal; throws `not_found` if the knowledge base no
 * longer exists.
 */
export async function accept(
  db: Db,
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
  // Outside the transaction, since other writers to the same base wait for its end.
  const item = await prepare(db, decision.document, decision.indexed);
  const { kbId, replaces, versions, by } = decision;
  return decide(db, project, { id, versions, wanted: "accepted" }, async (tx) => {
    if (replaces !== null) {
      const locked = await sql.accept.run(tx, { project, kbId });
      if (locked === 0) throw new ServiceError("not_found", "The knowledge base of this proposal was deleted.");
      if (!(await sql.lockDocument.any(tx, { ...replaces, project, kbId }))) return null;
    }
    const [put] = await putDocuments(tx, project, kbId, [item]);
    if (put === undefined) throw new Error("the document of a proposal was not stored");
    if (replaces !== null) {
      await sql.markAsSource.run(tx, { ...replaces, project });
    }
    const action = replaces === null ? "add" : "replace";
    return mark(tx, project, id, { status: "accepted", by, action, resultDocumentId: put.documentId });
  });
}

/** Rejects a proposal; a rejected one is unchanged. Null if there is no such proposal. */
export const reject = (
  db: Db,
  project: ProjectId,
  id: string,
  decision: { versions: readonly number[] | null; by: string; reason: string | null },
): Promise<ProposalOutcome | null> =>
  decide(db, project, { id, versions: decision.versions, wanted: "rejected" }, (tx) =>
    mark(tx, project, id, { status: "rejected", by: decision.by, reason: decision.reason }),
  );
