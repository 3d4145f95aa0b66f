import { ServiceError } from "@svc/contracts";
import type { ProposalStatus, Source } from "@svc/contracts";
import type { IndexedChunks } from "./chunks.ts";
import type { Db, PageQuery } from "../db.ts";
import { prepare } from "./kbs.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { putDocuments } from "./put-documents.ts";
import type { NewDocument } from "./put-documents.ts";
import { statements } from "../sql.ts";

const sql = statements("knowledge/proposals");

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

/** A proposal and the decision on it. */
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
 * Result of a decision: `stale` when the proposal has another version, `decided` when it was decided otherwise,
 * `changed` when the document is not as it was when this was proposed.
 */
export interface ProposalOutcome {
  result: "done" | "stale" | "decided" | "changed";
  proposal: ProposalRecord;
}

/** Returns a proposal, or null if the project has none with this id. */
export const find = (db: Db, project: ProjectId, id: string) => sql.find.one<ProposalRecord>(db, { project, id });

/**
 * Locks a proposal and does `work` if it is open and has an expected version. Two decisions come one after the other;
 * the second one finds what the first has done.
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
): Promise<ProposalRecord | null> {
  return sql.mark.one<ProposalRecord>(tx, {
    project,
    id,
    action: null,
    reason: null,
    resultDocumentId: null,
    ...decision,
  });
}

/** Keeps a proposal for somebody to decide on. Throws not_found when its conversation was erased in this moment. */
export async function insert(db: Db, project: ProjectId, proposal: NewProposal): Promise<ProposalRecord> {
  const row = await sql.insert.one<ProposalRecord>(db, { id: newId(), project, ...proposal });
  if (row === null) throw new ServiceError("not_found", "No ticket with this ID exists in this project.");
  return row;
}

/**
 * Proposals, newest first: those made before the one with the id `before`, with `q` in title or text, of one status
 * and for one knowledge base. Without `searchesQuestions` no `q` finds what a customer has asked and nobody accepted.
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

/** A document that can be found and may be changed, or null. */
export const findTarget = (db: Db, project: ProjectId, documentId: string) =>
  sql.findTarget.one<ProposalTarget & { kbId: string }>(db, { project, documentId });

/** The last text that a person has sent in a conversation that this project works on, or null. */
export async function findOperatorAnswer(db: Db, project: ProjectId, ticketId: string): Promise<OperatorAnswer | null> {
  type Row = Omit<OperatorAnswer, "sources"> & { sources: Source[] | null };
  const row = await sql.findOperatorAnswer.one<Row>(db, { project, ticketId });
  return row === null ? null : { ...row, sources: row.sources ?? [] };
}

/** What was asked last in a conversation that this project works on, and the agent that has it; or null. */
export const findQuestion = (db: Db, project: ProjectId, ticketId: string) =>
  sql.findQuestion.one<Omit<OperatorAnswer, "text" | "sources">>(db, { project, ticketId });

/**
 * Accepts a proposal and puts its document, in one transaction: a search finds the new text or the proposal is still
 * open. One that was accepted before is left as it is. `replaces` is the document as it was proposed for: when it has
 * another text by now, or waits to be read again, nothing is done. It keeps what it was read from, so that handing in
 * the same source again does not undo the change. Null when there is no such proposal; throws `not_found` when there
 * is no such knowledge base any more.
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
  // Outside the transaction, since a process that puts into the same base waits for its end.
  const item = await prepare(db, decision.document, decision.indexed);
  const { kbId, replaces, versions, by } = decision;
  return decide(db, project, { id, versions, wanted: "accepted" }, async (tx) => {
    if (replaces !== null) {
      const locked = await sql.accept.run(tx, { project, kbId });
      if (locked === 0) throw new ServiceError("not_found", "The knowledge base of this proposal was deleted.");
      if (
        !(await sql.lockDocument.any(tx, {
          project,
          kbId,
          id: replaces.id,
          contentHash: replaces.contentHash,
        }))
      )
        return null;
    }
    const [put] = await putDocuments(tx, project, kbId, [item]);
    if (put === undefined) throw new Error("the document of a proposal was not stored");
    if (replaces !== null) {
      await sql.markAsSource.run(tx, { project, id: replaces.id, contentHash: replaces.contentHash });
    }
    const action = replaces === null ? "add" : "replace";
    return mark(tx, project, id, { status: "accepted", by, action, resultDocumentId: put.documentId });
  });
}

/** Rejects a proposal; one that was rejected before is left as it is. Null when there is no such proposal. */
export const reject = (
  db: Db,
  project: ProjectId,
  id: string,
  decision: { versions: readonly number[] | null; by: string; reason: string | null },
): Promise<ProposalOutcome | null> =>
  decide(db, project, { id, versions: decision.versions, wanted: "rejected" }, (tx) =>
    mark(tx, project, id, { status: "rejected", by: decision.by, reason: decision.reason }),
  );
