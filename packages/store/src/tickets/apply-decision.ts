import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import type { AnswerStep } from "../platform/stats.ts";
import { statements } from "../sql.ts";
import { freeOperatorFiles, takeOperatorFiles } from "../messages/files.ts";
import {
  dropBeforeClosing,
  findWebhookMessage,
  insertReviewEvent,
  isClosed,
  keepBeforeClosing,
  recordChange,
  receiveAgain,
  restoreClosed,
} from "./review-state.ts";
import type { DraftWork, ReviewState, SendWork, WaitingMessage } from "./review-state.ts";
import { RECORD_COLUMNS, RECORD_JOINS, asTicketRecord } from "./ticket-record.ts";
import type { TicketRecord, Ticket } from "./ticket-record.ts";
import { decideToolCall } from "./tool-calls.ts";
import { TICKET_LIMITS } from "@svc/contracts";
import type { ReviewAction, TicketPriority } from "@svc/contracts";

/** What a person has decided. */
export interface Decision {
  action: ReviewAction;
  actor: string;
  /** What the ticket is from now on. */
  ticket: Pick<Ticket, "project" | "status" | "stage" | "assignee" | "agentId">;
  /** Why its stage changes, in words. */
  why: string;
  /** For the ticket's event. */
  data: object;
  /**
   * What becomes of the messages that wait: they stay, they end without an answer, the held ones go back to the agent,
   * the failed ones are tried again, or those that closing the ticket ended wait again, with their draft.
   */
  waiting: "stay" | "reject" | "return" | "revive" | "restore";
  /** Of which of them it becomes so; of all where absent. */
  only?: readonly string[];
  dropsDraft: boolean;
  /** What else of the ticket changes: its priority, and tags that it gets besides its own. */
  fields?: { priority?: TicketPriority | undefined; addTags?: readonly string[] | undefined };
  /** End of the snooze from now on: "reply" for the next message of the customer, null for none. Absent: as it is. */
  snooze?: Date | "reply" | null;
  /** True when a run of the pipeline that is under way must start again: what it does may depend on the decision. */
  interrupts: boolean;
  /** What the pipeline has to do now, if anything. */
  work: SendWork | DraftWork | null;
  /** A call of a tool that waits and is decided about with it. Throws ToolCallDecidedError when it waits no more. */
  toolCall?: { id: string; state: "approved" | "rejected" };
  /** What triage learns about the newest message that waits, or else the newest one. */
  lessons: { project: ProjectId; agentId: string | null }[];
}

/** A decision that is committed. */
export interface Decided {
  /** The ticket as the decision has made it. */
  ticket: TicketRecord;
  /** True when the pipeline has something to do now. */
  hasWork: boolean;
  /** A message of mode webhook whose sender has something to hear; null when there is none. */
  notifiedMessageId: string | null;
}

/** Thrown when a decision names a file that its ticket has not: nothing of the decision is true then. */
export class OperatorFileGoneError extends Error {
  constructor() {
    super("the ticket has no such file");
    this.name = "OperatorFileGoneError";
  }
}

/** Thrown when a call of a tool is decided about that does not wait any more: nothing of the decision is true then. */
export class ToolCallDecidedError extends Error {
  constructor() {
    super("the tool call is no longer waiting");
    this.name = "ToolCallDecidedError";
  }
}

/** Thrown when a decision gives a ticket more tags than it can have: nothing of the decision is true then. */
export class TooManyTagsError extends Error {
  constructor() {
    super("the ticket would have too many tags");
    this.name = "TooManyTagsError";
  }
}

/** How long the sweeper leaves a decision to its job. */
const SWEEP_AFTER_MS = 2_000;

const idsOf = (waiting: readonly WaitingMessage[], state: WaitingMessage["state"]) =>
  waiting.flatMap((message) => (message.state === state ? [message.id] : []));

/** Moves the messages that wait to where the decision sends them; returns those whose senders hear of it. */
const MOVE_WAITING: Record<Decision["waiting"], (tx: Db, state: ReviewState) => Promise<string[]>> = {
  stay: () => Promise.resolve([]),
  async reject(tx, { ticket: { homeProject }, waiting }) {
    const messageIds = waiting.map(({ id }) => id);
    await sql.reject.run(tx, { homeProject, messageIds });
    await recordChange(tx, homeProject, messageIds);
    return messageIds;
  },
  async return(tx, { ticket: { homeProject }, waiting }) {
    await receiveAgain(tx, homeProject, idsOf(waiting, "held"));
    return [];
  },
  async revive(tx, { ticket: { homeProject }, waiting }) {
    const messageIds = idsOf(waiting, "failed");
    await receiveAgain(tx, homeProject, messageIds);
    await recordChange(tx, homeProject, messageIds, true);
    return [];
  },
  async restore(tx, { ticket, closed }) {
    await restoreClosed(tx, ticket, closed.ended);
    return [];
  },
};

const sql = statements("tickets/apply-decision", {
  sweepAfterMs: SWEEP_AFTER_MS,
  recordColumns: RECORD_COLUMNS,
  recordJoins: RECORD_JOINS,
});

/** Writes down what the pipeline has to do; the messages that a reply answers are covered from now on. */
async function insertWork(tx: Db, { ticket, failed }: ReviewState, decision: Decision): Promise<string | null> {
  const { work, actor } = decision;
  if (work === null) return null;
  // Only the last one can be tried again. Files that this decision names as well are taken below.
  await freeOperatorFiles(tx, ticket.homeProject, ticket.id, failed?.fileIds ?? []);
  const reviewId = newId();
  const send = work.kind === "send" ? work : null;
  await sql.insertReview.run(tx, {
    reviewId,
    homeProject: ticket.homeProject,
    id: ticket.id,
    kind: work.kind,
    actor,
    author: send?.author,
    text: send?.text,
    markdown: send?.markdown,
    sources: send === null ? null : JSON.stringify(send.sources),
    answers: work.answers,
    covers: work.covers,
    fileIds: send?.fileIds ?? [],
    resolves: send?.resolves ?? false,
  });
  if (send !== null) {
    if (!(await takeOperatorFiles(tx, ticket.homeProject, ticket.id, send.fileIds))) throw new OperatorFileGoneError();
    await sql.coverMessages.run(tx, { homeProject: ticket.homeProject, covers: send.covers, answers: send.answers });
  }
  return reviewId;
}

/**
 * Takes the conversation from the worker that has it, unless an earlier decision is being carried out: what its run
 * has found was found before the decision. The message is worked on again, and the try does not count.
 */
async function interruptRun(tx: Db, { ticket, isUnderWay, isLeased }: ReviewState & { isLeased: boolean }) {
  if (isUnderWay) return;
  await sql.takeLease.run(tx, { homeProject: ticket.homeProject, id: ticket.id });
  await sql.takeAttemptBack.run(tx, { homeProject: ticket.homeProject, id: ticket.id, uncounted: isLeased ? 1 : 0 });
}

/** What triage learns goes by the newest message that waits, or else the newest one. */
async function teach(tx: Db, { ticket, waiting, newest }: ReviewState, decision: Decision): Promise<void> {
  const message = waiting.at(-1) ?? newest;
  if (message === null || decision.lessons.length === 0) return;
  const said = await sql.readText.one<{ text: string }>(tx, { homeProject: ticket.homeProject, id: message.id });
  for (const { project, agentId } of decision.lessons) {
    const decided = { messageId: message.id, ticketId: ticket.id, agentId, text: said?.text ?? "" };
    await noteDecidedMessage(tx, project, decided);
  }
}

/** What actions mean for the draft that waits. */
const ANSWER_STEPS: { [Action in ReviewAction]?: AnswerStep } = {
  approve: "approve",
  edit: "edit",
  reject: "reject",
  reply: "reject",
  resolve: "reject",
};

/** The step of an agent's answer that a decision is. To spam no answer would have been right. */
function stepOf({ action, ticket }: Decision): { step: AnswerStep } | null {
  const step = ticket.status === "spam" ? undefined : ANSWER_STEPS[action];
  return step === undefined ? null : { step };
}

/** Makes all true that a decision changes; what it is about is locked. */
export async function applyDecision(
  tx: Db,
  state: ReviewState & { isLeased: boolean },
  decision: Decision,
): Promise<Decided> {
  const { ticket: before } = state;
  const { ticket: after, actor, why, action, data } = decision;
  // The run first: after that, the oldest message that was received need not be the one that it worked on.
  if (decision.interrupts) await interruptRun(tx, state);
  const moved =
    decision.only === undefined ? state.waiting : state.waiting.filter(({ id }) => decision.only?.includes(id));
  const notified = await MOVE_WAITING[decision.waiting](tx, { ...state, waiting: moved });
  if (decision.toolCall !== undefined) {
    const isDecided = await decideToolCall(tx, before.project, { ...decision.toolCall, actor });
    if (!isDecided) throw new ToolCallDecidedError();
  }
  const reviewId = await insertWork(tx, state, decision);
  if (reviewId !== null) {
    await sql.setReview.run(tx, { homeProject: before.homeProject, id: before.id, reviewId });
  }
  const isClosing = decision.waiting === "reject" && isClosed(after.status);
  // A ticket that is marked as spam after it was resolved keeps what it was before both.
  if (isClosing && !isClosed(before.status)) await keepBeforeClosing(tx, before);
  if (decision.dropsDraft && !isClosing) await dropBeforeClosing(tx, before);
  if (decision.dropsDraft) {
    await sql.deleteDraft.run(tx, { homeProject: before.homeProject, id: before.id });
  }
  const addedTags = [...(decision.fields?.addTags ?? [])];
  const changed = await sql.writeTicket.one<TicketRecord>(tx, {
    project: before.project,
    id: before.id,
    project2: after.project,
    status: after.status,
    stage: after.stage,
    assignee: after.assignee,
    agentId: after.agentId,
    priority: decision.fields?.priority,
    addTags: addedTags,
    isSnoozeKept: decision.snooze === undefined,
    snoozedUntil: decision.snooze === "reply" ? "infinity" : decision.snooze,
  });
  if (addedTags.length > 0 && (changed?.tags.length ?? 0) > TICKET_LIMITS.tagsMaxCount) throw new TooManyTagsError();
  const move = { at: new Date().toISOString(), actor, from: before.stage, to: after.stage, why };
  await insertReviewEvent(tx, {
    project: before.homeProject,
    ticketId: before.id,
    messageId: decision.work?.answers ?? null,
    actor,
    moves: before.stage === after.stage ? [] : [move],
    data: { decision: action, ...data },
    answer: stepOf(decision),
  });
  await teach(tx, state, decision);
  if (changed === null) throw new Error(`ticket ${before.id} does not exist although it is locked`);
  const runsAgain = decision.waiting === "return" || decision.waiting === "revive";
  return {
    ticket: asTicketRecord(changed),
    hasWork: reviewId !== null || runsAgain || (decision.interrupts && state.hasReceived),
    notifiedMessageId: await findWebhookMessage(tx, before.homeProject, notified),
  };
}

/** A message whose agent a person has decided. */
export interface DecidedMessage {
  messageId: string;
  ticketId: string;
  /** Null: it is for none of the agents. */
  agentId: string | null;
  text: string;
}

/** So many are kept for each project, the newest: more teach nothing new. */
const MAX_KEPT = 10_000;

/** The newest resolved tickets that are learned from. */
const MAX_TICKETS = 2_000;

/** What a message is about is said in its beginning. */
const MAX_TEXT_CHARS = 4_000;

const triageSql = statements("tickets/triage-messages", {
  maxKept1: MAX_KEPT - 1,
  maxTextChars: MAX_TEXT_CHARS,
  maxTickets: MAX_TICKETS,
});

/**
 * Notes what a person has decided about a message; a later decision on the same message takes its place. Of more
 * than 10,000 the oldest go.
 */
async function noteDecidedMessage(db: Db, project: ProjectId, decided: DecidedMessage): Promise<void> {
  await triageSql.note.run(db, { project, ...decided });
  await triageSql.deleteOldest.run(db, { project });
}

/** Changes whenever what `listDecidedMessages` answers does, also when something of it is erased. */
async function findTriageMark(db: Db, project: ProjectId): Promise<string> {
  const row = await triageSql.findMark.one<{ mark: string }>(db, { project });
  return row?.mark ?? "";
}

/**
 * What is known of a project: what has been decided, the newest first, and then what the last 2,000 resolved tickets
 * began with, for the agent that had them. A decision about such a message is the one that counts.
 */
const listDecidedMessages = (db: Db, project: ProjectId) =>
  triageSql.list.all<Pick<DecidedMessage, "agentId" | "text">>(db, { project });

/** Functions of `store.triageMessages`. */
export const triageMessages = { note: noteDecidedMessage, findMark: findTriageMark, list: listDecidedMessages };
