import { PUSHING_CHANNELS } from "@svc/contracts";
import type { ReplyAuthor, ReplyDraft, Source, StageMove, TicketStage, TicketStatus } from "@svc/contracts";
import type { AnswerStep } from "../platform/stats.ts";
import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import type { ClaimedMessage } from "../messages/messages.ts";
import type { ReplyPosition, StoredReply } from "../messages/replies.ts";
import { columnsOf, statements } from "../sql.ts";
import { OPENING_COLUMNS, OPENING_VALUES, REOPEN_ASSIGNMENTS, isOfBlocked, subjectOf } from "./ticket-record.ts";
import type { Ticket } from "./ticket-record.ts";
import type { Context } from "../context.ts";
import { applyRoute, lockRoute } from "./issues.ts";
import type { IssueRoute } from "./issues.ts";

/** A reply item of a run or a decision. */
export interface NewReply {
  item: ReplyDraft;
  author: ReplyAuthor;
}

/** Result of a pipeline run, committed in one statement. */
export interface RunOutcome {
  message: Pick<ClaimedMessage, "project" | "messageId" | "ticketId" | "leaseId">;
  state: "answered" | "held" | "rejected" | "failed";
  failure: string | null;
  stage: TicketStage;
  status: TicketStatus;
  agentId: string | null;
  confidence: number | null;
  language: string | null;
  moves: StageMove[];
  /** Results and durations of the stages, for the trace on the ticket. */
  trace: object;
  /** Effect on an agent's answer with this agent and confidence; absent if there is none. */
  answerStep?: AnswerStep | null;
  replies: NewReply[];
  draft: NewDraft | null;
  /** Routing of a submitted issue by triage; absent for other messages, and if it is unchanged. */
  route?: IssueRoute;
}

/** Result of committing a run. */
export interface FinishedRun {
  /** Sequence numbers of its replies; null if there are none. */
  replies: { fromSeq: number; toSeq: number } | null;
  /** The stored replies. */
  stored: StoredReply[];
  /** True if the chat has entries after the message: there may be another one to claim. */
  hasMore: boolean;
}

/** The columns of a ticket. */
export const TICKET_COLUMNS =
  "id, home_project_id AS home_project, project_id AS project, channel_id, chat_id, subject, status, stage, assignee, agent_id, language, version";

/** Target of the last move of a run while another message of the ticket is a dead letter. */
const STILL_FAILED = JSON.stringify({ to: "failed", why: "this is done, and another message has failed" });

/** Thrown when a run continues although its lease was lost: it must not have any effect. */
export class LeaseLostError extends Error {
  constructor() {
    super("the lease on the chat is lost");
    this.name = "LeaseLostError";
  }
}

const sql = statements("tickets/tickets", {
  subject: subjectOf("i.text"),
  reopenAssignments: REOPEN_ASSIGNMENTS,
  openingColumns: OPENING_COLUMNS,
  openingValues: OPENING_VALUES,
  isOfBlocked: isOfBlocked({ message: "i", chat: "c" }),
  stillFailed: STILL_FAILED,
  list: PUSHING_CHANNELS.join(","),
});

/** A draft that waits for an operator. */
export interface NewDraft {
  text: string;
  markdown: boolean;
  sources: Source[];
  /** Null for a message that asks nothing. */
  confidence: number | null;
  why: string;
}

/** Maximum length of a text that an operator sends, in characters. */
const MAX_TEXT_CHARS = 50_000;
/** Maximum length of a draft's reasons, in characters. */
const MAX_WHY_CHARS = 1_000;

/** Truncates a text without splitting a character. */
const beginning = (text: string, maxChars: number) =>
  text.length <= maxChars ? text : Array.from(text).slice(0, maxChars).join("");

/** Joins two texts with a separator; parts that the first one contains already are not repeated, except those of code. */
function joinTexts(former: string, added: string, between: string): string {
  if (former.trim() === "") return added;
  const parts = added.includes("```") ? [added] : added.split(between);
  const others = parts.filter((part) => part.trim() !== "" && !former.includes(part));
  return [former, ...others].join(between);
}

/** Returns the identity of a source. */
const keyOf = ({ documentId, chunkId, quote }: Source) => JSON.stringify([documentId, chunkId, quote]);

/**
 * Joins two drafts: the answers one after the other, with the sources of both, and the lower confidence, if both have
 * one. Parts of the answer that the former one contains are not repeated. At most 50,000 characters.
 */
export function joinDrafts(former: NewDraft, added: NewDraft): NewDraft {
  const known = new Set(former.sources.map(keyOf));
  return {
    text: beginning(joinTexts(former.text, added.text, "\n\n"), MAX_TEXT_CHARS),
    markdown: former.markdown || added.markdown,
    sources: [...former.sources, ...added.sources.filter((source) => !known.has(keyOf(source)))],
    confidence: lowerOf(former.confidence, added.confidence),
    why: beginning(joinTexts(former.why, added.why, "; "), MAX_WHY_CHARS),
  };
}

const lowerOf = (one: number | null, other: number | null) =>
  one === null || other === null ? (one ?? other) : Math.min(one, other);

/**
 * Adds the result of a run to the draft of a ticket: an existing draft is extended, since one reply answers all waiting
 * messages. The caller holds the lock on the chat, so that no other process writes the draft.
 */
async function addDraft(
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
  // Usually there is no draft yet, and one statement is enough.
  if ((await sql.insertDraft.run(tx, values(draft))) > 0) return;
  const former = await sql.findDraft.one<NewDraft>(tx, { project, ticketId });
  await sql.replaceDraft.run(tx, values(former === null ? draft : joinDrafts(former, draft)));
}

interface OpenItem {
  project: ProjectId;
  message: ClaimedMessage;
}

const openBatched = batched<Context, OpenItem, Ticket>(async (context: Context, items) => {
  const messages = items.map(({ message }) => message);
  const rows = await sql.open.all<Ticket>(context.leases, {
    ...columnsOf(messages, "channelId", "chatId", "userId", "text", "leaseId"),
    id: items.map(({ message }) => message.ticketId),
    projectId: items.map(({ project }) => project),
    channelMeta: items.map(({ message }) => JSON.stringify(message.channelMeta)),
  });
  const byId = new Map(rows.map((row) => [row.id, row]));
  return items.map(({ message }) => {
    const ticket = byId.get(message.ticketId);
    if (ticket === undefined) throw new LeaseLostError();
    return ticket;
  });
});

// oxlint-disable-next-line max-lines-per-function -- One record of a column per line.
async function finishAll(on: Db, runs: RunOutcome[]): Promise<(FinishedRun | null)[]> {
  const sorted = runs.toSorted((a, b) => (a.message.ticketId < b.message.ticketId ? -1 : 1));
  const replies = sorted.flatMap(({ message, replies: made }) =>
    made.map(({ item, author }, index) => ({
      id: newId(),
      leaseId: message.leaseId,
      place: index + 1,
      item,
      author,
    })),
  );
  const messages = sorted.map(({ message }) => message);
  const rows = await sql.finish.all(on, {
    ...columnsOf(messages, "ticketId", "messageId", "leaseId"),
    ...columnsOf(sorted, "state", "failure", "stage", "status", "agentId", "confidence", "language"),
    ...columnsOf(replies, "id", "place", "author"),
    projectId: sorted.map((run) => run.message.project),
    moves: sorted.map((run) => JSON.stringify(run.moves)),
    trace: sorted.map((run) => JSON.stringify(run.trace)),
    replyCount: sorted.map((run) => run.replies.length),
    // Small talk has no confidence, and is no reply to a question.
    isFirstReply: sorted.map((run) => run.confidence !== null && run.replies.some(({ author }) => author !== "system")),
    leaseId2: replies.map((reply) => reply.leaseId),
    type: replies.map(({ item }) => item.type),
    text: replies.map(({ item }) => (item.type === "message" ? item.text : null)),
    markdown: replies.map(({ item }) => (item.type === "message" ? item.markdown : null)),
    sources: replies.map(({ item }) => (item.type === "message" && item.sources ? JSON.stringify(item.sources) : null)),
    filename: replies.map(({ item }) => (item.type === "attachment" ? item.filename : null)),
    mime: replies.map(({ item }) => (item.type === "attachment" ? item.mime : null)),
    content: replies.map(({ item }) => (item.type === "attachment" ? item.content : null)),
    answerStep: sorted.map((run) => run.answerStep ?? null),
  });
  const finished = new Map(rows.map((row) => [row.leaseId, row]));
  return runs.map((run) => {
    const row = finished.get(run.message.leaseId);
    if (row === undefined) return null;
    const count = run.replies.length;
    const own = replies.filter(({ leaseId }) => leaseId === run.message.leaseId);
    return {
      replies: count === 0 ? null : { fromSeq: row.lastSeq - count + 1, toSeq: row.lastSeq },
      stored: own.map(({ id, place: position, author, item }) =>
        storedReply(item, {
          id,
          ticketId: run.message.ticketId,
          seq: row.lastSeq - count + position,
          inReplyTo: run.message.messageId,
          author,
          createdAt: row.finishedAt,
        }),
      ),
      hasMore: row.lastSeq - count > row.seq,
    };
  });
}

/** Returns the reply as it will be read. */
function storedReply(item: ReplyDraft, position: ReplyPosition): StoredReply {
  return item.type === "message"
    ? { ...position, type: "message", text: item.text, markdown: item.markdown, sources: item.sources ?? null }
    : { ...position, type: "attachment", filename: item.filename, mime: item.mime, content: Buffer.from(item.content) };
}

const finishBatched = batched<Context, RunOutcome, FinishedRun | null>((context: Context, runs) =>
  finishAll(context.hot, runs),
);

/**
 * Opens the ticket of a claimed message, or adds the message to it; concurrent calls share a statement. Throws
 * LeaseLostError if another worker has the chat, or if it was erased.
 */
export const open = (context: Context, project: ProjectId, message: ClaimedMessage): Promise<Ticket> =>
  openBatched(context, { project, message });

/**
 * Commits the result of a run and releases the lease; null, without changes, if the lease was lost: another worker has
 * the message then. Concurrent calls share a statement. Throws ProjectNotFoundError, also without changes, if the target
 * project of a route was deleted.
 */
export async function finish(context: Context, project: ProjectId, outcome: RunOutcome): Promise<FinishedRun | null> {
  const { draft, route } = outcome;
  const run = { ...outcome, message: { ...outcome.message, project } };
  if (draft === null && route === undefined) return finishBatched(context, run);
  return context.hot.transaction(async (tx) => {
    if (route !== undefined) await lockRoute(tx, route);
    const [finished = null] = await finishAll(tx, [run]);
    if (finished === null) return null;
    const { ticketId, messageId } = run.message;
    if (draft !== null) await addDraft(tx, project, { ticketId, messageId, draft });
    if (route !== undefined) await applyRoute(tx, project, ticketId, route);
    return finished;
  });
}

/** Returns a ticket that came in to this project, or null. */
export const find = (context: Context, project: ProjectId, ticketId: string) =>
  sql.find.one<Ticket>(context.hot, { project, ticketId });

/** Returns all moves of a ticket in chronological order. */
export async function listMoves(context: Context, project: ProjectId, ticketId: string): Promise<StageMove[]> {
  const rows = await sql.listMoves.all<{ moves: StageMove[] }>(context.hot, { project, ticketId });
  return rows.flatMap((row) => row.moves);
}
