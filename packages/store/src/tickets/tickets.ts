import { PUSHING_CHANNELS } from "@svc/contracts";
import type {
  ReplyAuthor,
  ReplyDraft,
  Source,
  StageMove,
  TicketStage,
  TicketStatus,
  TicketPriority,
} from "@svc/contracts";
import type { AnswerStep } from "../platform/stats.ts";
import { batched } from "../context.ts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import type { ClaimedMessage } from "../messages/messages.ts";
import type { ReplyPosition, StoredReply } from "../messages/replies.ts";
import { statements } from "../sql.ts";
import { TAKEN_COLUMNS, TAKEN_VALUES, TAKE_IN, isOfBlocked, subjectOf, asConfidence } from "./ticket-record.ts";
import type { Ticket } from "./ticket-record.ts";
import type { Context } from "../context.ts";
import { anyTwoOf } from "./ticket-index.ts";

/** A reply item that a run or a decision makes. */
export interface NewReply {
  item: ReplyDraft;
  author: ReplyAuthor;
}

/** How a run of the pipeline ended: all of it becomes true in one statement, or nothing does. */
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
  /** What the stages found and how long they took, for the trace on the ticket. */
  trace: object;
  /** What the run means for an agent's answer of this agent and confidence; absent where it means nothing. */
  answerStep?: AnswerStep | null;
  replies: NewReply[];
  draft: NewDraft | null;
  /** Where triage has sent a submitted issue; absent for any other message, and where it stays as it is. */
  route?: IssueRoute;
}

/** What a finished run has made. */
export interface FinishedRun {
  /** Places of its replies in the chat; null when there are none. */
  replies: { fromSeq: number; toSeq: number } | null;
  /** The replies as they are stored. */
  stored: StoredReply[];
  /** True when something came into the chat after the message: there may be another one to claim. */
  hasMore: boolean;
}

/** What a ticket is made from. */
export const TICKET_COLUMNS =
  "id, home_project_id AS home_project, project_id AS project, channel_id, chat_id, subject, status, stage, assignee, agent_id, language, version";

/** Where the last move of a run leads while another message of the ticket is a dead letter. */
const STILL_FAILED = JSON.stringify({ to: "failed", why: "this is done, and another message has failed" });

/** Thrown when a run continues although its lease is gone: what it does must not count. */
export class LeaseLostError extends Error {
  constructor() {
    super("the lease on the chat is lost");
    this.name = "LeaseLostError";
  }
}

const sql = statements("tickets/tickets", {
  subject: subjectOf("i.text"),
  takeIn: TAKE_IN,
  takenColumns: TAKEN_COLUMNS,
  takenValues: TAKEN_VALUES,
  isOfBlocked: isOfBlocked({ message: "i", chat: "c" }),
  stillFailed: STILL_FAILED,
  list: PUSHING_CHANNELS.join(","),
});

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
 * that wait, since one reply answers them all. For the process that holds the lock on the chat, so that nobody else
 * writes the draft.
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
  if ((await sql.insertDraft.run(tx, values(draft))) > 0) return;
  const former = await sql.findDraft.one<NewDraft>(tx, { project, ticketId });
  await sql.replaceDraft.run(tx, values(former === null ? draft : joinDrafts(former, draft)));
}

interface OpenItem {
  project: ProjectId;
  message: ClaimedMessage;
}

const openBatched = batched<Context, OpenItem, Ticket>(async (context: Context, items) => {
  const rows = await sql.open.all<Ticket>(context.leases, {
    id: items.map(({ message }) => message.ticketId),
    projectId: items.map(({ project }) => project),
    channelId: items.map(({ message }) => message.channelId),
    chatId: items.map(({ message }) => message.chatId),
    userId: items.map(({ message }) => message.userId),
    text: items.map(({ message }) => message.text),
    channelMeta: items.map(({ message }) => JSON.stringify(message.channelMeta)),
    leaseId: items.map(({ message }) => message.leaseId),
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
  const rows = await sql.finish.all<{ leaseId: string; lastSeq: number; seq: number; finishedAt: Date }>(on, {
    projectId: sorted.map((run) => run.message.project),
    ticketId: sorted.map((run) => run.message.ticketId),
    messageId: sorted.map((run) => run.message.messageId),
    leaseId: sorted.map((run) => run.message.leaseId),
    state: sorted.map((run) => run.state),
    failure: sorted.map((run) => run.failure),
    stage: sorted.map((run) => run.stage),
    status: sorted.map((run) => run.status),
    agentId: sorted.map((run) => run.agentId),
    confidence: sorted.map((run) => run.confidence),
    language: sorted.map((run) => run.language),
    moves: sorted.map((run) => JSON.stringify(run.moves)),
    trace: sorted.map((run) => JSON.stringify(run.trace)),
    replyCount: sorted.map((run) => run.replies.length),
    isFirstReply: sorted.map((run) => run.replies.some((reply) => reply.author !== "system")),
    id: replies.map(({ id }) => id),
    leaseId2: replies.map((reply) => reply.leaseId),
    place: replies.map((reply) => reply.place),
    author: replies.map((reply) => reply.author),
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

/** A reply as it is read later. */
function storedReply(item: ReplyDraft, position: ReplyPosition): StoredReply {
  return item.type === "message"
    ? { ...position, type: "message", text: item.text, markdown: item.markdown, sources: item.sources ?? null }
    : { ...position, type: "attachment", filename: item.filename, mime: item.mime, content: Buffer.from(item.content) };
}

const finishBatched = batched<Context, RunOutcome, FinishedRun | null>((context: Context, runs) =>
  finishAll(context.hot, runs),
);

/**
 * Opens the ticket of a claimed message, or takes the message into it; concurrent calls share a statement. Throws
 * LeaseLostError when another worker has the chat, or when it was erased.
 */
export const open = (context: Context, project: ProjectId, message: ClaimedMessage): Promise<Ticket> =>
  openBatched(context, { project, message });

/**
 * Makes the outcome of a run true and gives the lease back; null when the lease was lost in the meantime: then
 * another worker has the message, and nothing of this run exists. Concurrent calls share a statement. Throws
 * ProjectGoneError when the project of a route was deleted meanwhile; nothing of this run exists then either.
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

/** A ticket that came in to this project, or null. */
export const find = (context: Context, project: ProjectId, ticketId: string) =>
  sql.find.one<Ticket>(context.hot, { project, ticketId });

/** All moves of a ticket in the order in which they were made. */
export async function listMoves(context: Context, project: ProjectId, ticketId: string): Promise<StageMove[]> {
  const rows = await sql.listMoves.all<{ moves: StageMove[] }>(context.hot, { project, ticketId });
  return rows.flatMap((row) => row.moves);
}

/** Where triage has sent an issue, for the outcome of its run. */
export interface IssueRoute {
  /** Who works on it from now on. */
  project: ProjectId;
  /** What its ticket's priority becomes; null where it stays. */
  priority: TicketPriority | null;
}

/** Result of an issue. */
export interface IssueRecord {
  /** Who works on it. */
  project: ProjectId;
  projectName: string;
  agentId: string | null;
  confidence: number | null;
  stage: TicketStage;
  /** Why triage has chosen so; null where it has not. */
  why: string | null;
}

/** A ticket that an issue may be about as well. */
export interface OpenTicket {
  ticketId: string;
  subject: string;
  /** The beginning of its first message. */
  text: string;
}

/** A ticket in short. */
export interface TicketBrief {
  ticketId: string;
  subject: string;
  status: TicketStatus;
  stage: TicketStage;
}

/** Thrown when the project that an issue is to go to was deleted meanwhile: triage has to choose again. */
export class ProjectGoneError extends Error {
  constructor() {
    super("the project selected by triage was deleted in the meantime");
    this.name = "ProjectGoneError";
  }
}

/** Tickets that an issue is compared with: the newest of the project, and so many with words of it. */
const NEWEST = 200;
const WITH_WORDS = 200;

/** What a ticket is about is said in its beginning. */
const MAX_ISSUE_CHARS = 4_000;

const issueSql = statements("tickets/issues", {
  newest: NEWEST,
  withWords: WITH_WORDS,
  maxTextChars: MAX_ISSUE_CHARS,
});

/**
 * Gives the ticket of an issue to the project that triage has chosen, in the transaction of its run's outcome. To be
 * called before the outcome is committed: the project's row is locked first, as a process that deletes a project does,
 * so that no ticket goes to a project that is gone. Throws ProjectGoneError.
 */
async function lockRoute(tx: Db, { project }: IssueRoute): Promise<void> {
  const found = await issueSql.lockRoute.one(tx, { project });
  if (found === null) throw new ProjectGoneError();
}

/** Moves the ticket, whose row the outcome of the run has locked in this transaction. */
const applyRoute = (tx: Db, home: ProjectId, ticketId: string, { project, priority }: IssueRoute) =>
  issueSql.applyRoute.exec(tx, { home, ticketId, project, priority });

/**
 * Result of an issue that came in to this project; null as long as its ticket is not opened. The reason is that
 * of the newest run that has chosen, and null where the ticket has gone to another project since: it names agents and
 * examples of the one that was chosen. Locks nothing.
 */
async function findIssue(db: Db, home: ProjectId, ticketId: string): Promise<IssueRecord | null> {
  const row = await issueSql.find.one<IssueRecord>(db, { home, ticketId });
  return row === null ? null : { ...row, confidence: asConfidence(row.confidence) };
}

/**
 * True when an issue was sent to where it is, by triage or by a person: a further run leaves it there. Reads the few
 * events of its ticket; locks nothing.
 */
async function isRouted(db: Db, home: ProjectId, ticketId: string): Promise<boolean> {
  const row = await issueSql.isRouted.one(db, { home, ticketId });
  return row !== null;
}

/** How often the ticket of an issue was resolved, and whether it is now. Reads the few events of its ticket. */
async function findResolutions(
  db: Db,
  home: ProjectId,
  ticketId: string,
): Promise<{ count: number; isResolved: boolean }> {
  const row = await issueSql.findResolutions.one<{ count: number; isResolved: boolean }>(db, { home, ticketId });
  return { count: row?.count ?? 0, isResolved: row?.isResolved ?? false };
}

/** True when the message is the first that its chat still has. */
async function isFirst(db: Db, home: ProjectId, ticketId: string, seq: number): Promise<boolean> {
  const row = await issueSql.isFirst.one(db, { home, ticketId, seq });
  return row === null;
}

/**
 * Tickets of a project that are not closed and may be about the same as another one: the newest ones, and those that
 * have two of these words, whose index may be a second behind. Both are read by an index, and bounded; locks nothing.
 */
const listComparable = (db: Db, project: ProjectId, ticketId: string, words: readonly string[]) =>
  issueSql.listComparable.all<OpenTicket>(db, { project, ticketId, anyTwo: anyTwoOf(project, words) });

/** Those of these tickets that the project works on. */
const listBriefs = (db: Db, project: ProjectId, ticketIds: readonly string[]) =>
  issueSql.listBriefs.all<TicketBrief>(db, { project, ticketIds });

/** Functions of `store.issues`. */
export const issues = { find: findIssue, isRouted, findResolutions, isFirst, listComparable, listBriefs };
