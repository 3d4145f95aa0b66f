import { TICKET_LIMITS } from "@svc/contracts";
import type { ReviewAction, TicketPriority } from "@svc/contracts";
import type { Db } from "../db.ts";
import { newId } from "../ids.ts";
import type { ProjectId } from "../ids.ts";
import { assignOperatorFiles, releaseOperatorFiles } from "../messages/files.ts";
import type { AnswerStep } from "../platform/stats.ts";
import { statements } from "../sql.ts";
import {
  deleteStateBeforeClosing,
  findWebhookMessage,
  insertReviewEvent,
  isClosed,
  lockReviewState,
  processAgain,
  recordChange,
  restoreClosed,
  saveStateBeforeClosing,
} from "./review-state.ts";
import type { DraftWork, ReviewState, SendWork, WaitingMessage } from "./review-state.ts";
import { asTicketRecord, RECORD_COLUMNS, RECORD_JOINS } from "./ticket-record.ts";
import type { Ticket, TicketRecord } from "./ticket-record.ts";
import { decideToolCall } from "./tool-calls.ts";

/** An operator's decision. */
export interface Decision {
  action: ReviewAction;
  actor: string;
  /** New state of the ticket. */
  ticket: Pick<Ticket, "project" | "status" | "stage" | "assignee" | "agentId">;
  /** Reason of the stage change. */
  why: string;
  /** For the ticket's event. */
  data: object;
  /**
   * Effect on the waiting messages: they stay, they end without an answer, the held ones return to the agent, the
   * failed ones are retried, or those that closing the ticket ended wait again, with their draft.
   */
  waiting: "stay" | "reject" | "return" | "revive" | "restore";
  /** Ids of the affected messages; all if absent. */
  only?: readonly string[];
  dropsDraft: boolean;
  /** Other changes of the ticket: its priority, and tags that are added. */
  fields?: { priority?: TicketPriority | undefined; addTags?: readonly string[] | undefined };
  /** New end of the snooze: "reply" for the customer's next message, null for none. Absent: unchanged. */
  snooze?: Date | "reply" | null;
  /** True if a current run of the pipeline must start again, since it may depend on the decision. */
  interrupts: boolean;
  /** Work of the pipeline, if any. */
  work: SendWork | DraftWork | null;
  /** A waiting tool call that is decided on too. Throws ToolCallDecidedError if it no longer waits. */
  toolCall?: { id: string; state: "approved" | "rejected" };
  /** What triage learns about the newest waiting message, or else the newest one. */
  lessons: { project: ProjectId; agentId: string | null }[];
}

/** A committed decision. */
export interface DecisionResult {
  /** The ticket after the decision. */
  ticket: TicketRecord;
  /** True if there is work for the pipeline. */
  hasWork: boolean;
  /** A message of mode webhook whose sender has to be notified; null if there is none. */
  notifiedMessageId: string | null;
}

/** Thrown if a decision names a file that its ticket does not have: the decision has no effect then. */
export class OperatorFileNotFoundError extends Error {
  constructor() {
    super("the ticket has no such file");
    this.name = "OperatorFileNotFoundError";
  }
}

/** Thrown if a decision is about a tool call that no longer waits: the decision has no effect then. */
export class ToolCallDecidedError extends Error {
  constructor() {
    super("the tool call is no longer waiting");
    this.name = "ToolCallDecidedError";
  }
}

/** Thrown if a decision adds more tags to a ticket than are allowed: the decision has no effect then. */
export class TooManyTagsError extends Error {
  constructor() {
    super("the ticket would have too many tags");
    this.name = "TooManyTagsError";
  }
}

/** Delay after which the sweeper publishes a decision whose job was lost. */
const SWEEP_AFTER_MS = 2_000;

const idsOf = (waiting: readonly WaitingMessage[], state: WaitingMessage["state"]) =>
  waiting.flatMap((message) => (message.state === state ? [message.id] : []));

/** Applies a decision to waiting messages; returns those whose senders are notified. */
const MOVE_WAITING: Record<Decision["waiting"], (tx: Db, state: ReviewState) => Promise<string[]>> = {
  stay: () => Promise.resolve([]),
  async reject(tx, { ticket: { homeProject }, waiting }) {
    const messageIds = waiting.map(({ id }) => id);
    await sql.reject.run(tx, { homeProject, messageIds });
    await recordChange(tx, homeProject, messageIds);
    return messageIds;
  },
  async return(tx, { ticket: { homeProject }, waiting }) {
    await processAgain(tx, homeProject, idsOf(waiting, "held"));
    return [];
  },
  async revive(tx, { ticket: { homeProject }, waiting }) {
    const messageIds = idsOf(waiting, "failed");
    await processAgain(tx, homeProject, messageIds);
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

/**
 * Records the work of the pipeline and returns its id, or null if there is none; the messages that a reply answers are
 * covered from now on.
 */
async function insertWork(tx: Db, { ticket, failed }: ReviewState, decision: Decision): Promise<string | null> {
  const { work, actor } = decision;
  if (work === null) return null;
  // Only the last one can be retried. Files that this decision names too are assigned below.
  await releaseOperatorFiles(tx, ticket.homeProject, ticket.id, failed?.fileIds ?? []);
  const reviewId = newId();
  const send = work.kind === "send" ? work : null;
  await sql.insertReview.run(tx, {
    ...work,
    reviewId,
    homeProject: ticket.homeProject,
    id: ticket.id,
    actor,
    author: send?.author,
    text: send?.text,
    markdown: send?.markdown,
    sources: send === null ? null : JSON.stringify(send.sources),
    fileIds: send?.fileIds ?? [],
    resolves: send?.resolves ?? false,
  });
  if (send !== null) {
    if (!(await assignOperatorFiles(tx, ticket.homeProject, ticket.id, send.fileIds)))
      throw new OperatorFileNotFoundError();
    await sql.coverMessages.run(tx, { homeProject: ticket.homeProject, covers: send.covers, answers: send.answers });
  }
  return reviewId;
}

/**
 * Ends the lease of the worker that has the conversation, unless an earlier decision is being carried out, since the
 * worker's results are from before the decision. The message is processed again, and the attempt does not count.
 */
async function interruptRun(tx: Db, { ticket, isUnderWay, isLeased }: ReviewState & { isLeased: boolean }) {
  if (isUnderWay) return;
  await sql.claimLease.run(tx, { homeProject: ticket.homeProject, id: ticket.id });
  await sql.uncountAttempt.run(tx, { homeProject: ticket.homeProject, id: ticket.id, uncounted: isLeased ? 1 : 0 });
}

/** Records what triage learns from the newest waiting message, or else the newest one. */
async function teach(tx: Db, { ticket, waiting, newest }: ReviewState, decision: Decision): Promise<void> {
  const message = waiting.at(-1) ?? newest;
  if (message === null || decision.lessons.length === 0) return;
  const said = await sql.readText.one(tx, { homeProject: ticket.homeProject, id: message.id });
  for (const { project, agentId } of decision.lessons) {
    const decided = { messageId: message.id, ticketId: ticket.id, agentId, text: said?.text ?? "" };
    await recordDecidedMessage(tx, project, decided);
  }
}

/** Effect of actions on the waiting draft. */
const ANSWER_STEPS: { [Action in ReviewAction]?: AnswerStep } = {
  approve: "approve",
  edit: "edit",
  reject: "reject",
  reply: "reject",
  resolve: "reject",
};

/** Returns the effect of a decision on an agent's answer. Spam should not have been answered. */
function stepOf({ action, ticket }: Decision): { step: AnswerStep } | null {
  const step = ticket.status === "spam" ? undefined : ANSWER_STEPS[action];
  return step === undefined ? null : { step };
}

/** Applies all changes of a decision; the caller holds the locks. */
export async function applyDecision(
  tx: Db,
  state: ReviewState & { isLeased: boolean },
  decision: Decision,
): Promise<DecisionResult> {
  const { ticket: before } = state;
  const { ticket: after, actor, why, action, data } = decision;
  // Interrupt the run first: afterwards, the oldest received message need not be the one that it processed.
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
    await sql.setReview.run(tx, { ...before, reviewId });
  }
  const isClosing = decision.waiting === "reject" && isClosed(after.status);
  // A ticket that is marked as spam after it was resolved keeps the state from before both.
  if (isClosing && !isClosed(before.status)) await saveStateBeforeClosing(tx, before);
  if (decision.dropsDraft && !isClosing) await deleteStateBeforeClosing(tx, before);
  if (decision.dropsDraft) {
    await sql.deleteDraft.run(tx, before);
  }
  const addedTags = [...(decision.fields?.addTags ?? [])];
  const isTaken = action !== "resolve" && after.assignee !== null && after.assignee !== before.assignee;
  const changed = await sql.writeTicket.one<TicketRecord>(tx, {
    ...after,
    project: before.project,
    id: before.id,
    project2: after.project,
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
    data: { decision: action, ...(isTaken && { assignee: after.assignee }), ...data },
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

/** A message whose agent a person has chosen. */
export interface DecidedMessage {
  messageId: string;
  ticketId: string;
  /** Null: no agent is right for it. */
  agentId: string | null;
  text: string;
}

/** Maximum per project, the newest: more improve nothing. */
const MAX_KEPT = 10_000;

/** Maximum of resolved tickets that are learned from, the newest. */
const MAX_TICKETS = 2_000;

/** Only the beginning of a message is used, which states its subject. */
const MAX_TEXT_CHARS = 4_000;

const triageSql = statements("tickets/triage-messages", {
  maxKept1: MAX_KEPT - 1,
  maxTextChars: MAX_TEXT_CHARS,
  maxTickets: MAX_TICKETS,
});

/**
 * Records a person's decision about a message; a later decision on the same message replaces it. Keeps the newest
 * 10,000.
 */
async function recordDecidedMessage(db: Db, project: ProjectId, decided: DecidedMessage): Promise<void> {
  await triageSql.record.run(db, { project, ...decided });
  await triageSql.deleteOldest.run(db, { project });
}

/** Returns a value that changes whenever the result of `listDecidedMessages` does, also by an erasure. */
async function findTriageMark(db: Db, project: ProjectId): Promise<string> {
  const row = await triageSql.findMark.one(db, { project });
  return row?.mark ?? "";
}

/**
 * Returns the training data of a project: decisions, newest first, and then the first messages of the last 2,000
 * resolved tickets, with their agents. A decision about such a message has priority.
 */
const listDecidedMessages = (db: Db, project: ProjectId) =>
  triageSql.list.all<Pick<DecidedMessage, "agentId" | "text">>(db, { project });

/** Functions of `store.triageMessages`. */
export const triageMessages = { record: recordDecidedMessage, findMark: findTriageMark, list: listDecidedMessages };

const turnSql = statements("tickets/assign-in-turn");

/** Number of the advisory lock of the replica that assigns. */
const ASSIGNMENT_LOCK = 7_305_422;

/**
 * Assigns one ticket that waits for a person and has no assignee, if its agent's setting is `round-robin`, to the
 * operator on duty whose last turn is longest ago; returns whether there may be another one. It has all effects of the
 * decision `assign`. Safe with any number of replicas and after any crash: the turn and the assignment are committed
 * together, and a ticket with an assignee is not assigned again.
 */
export const assignNext = (db: Db): Promise<boolean> =>
  db.transaction(async (tx) => {
    const lock = await turnSql.hold.one(tx, { assignmentLock: ASSIGNMENT_LOCK });
    if (lock?.isHeld !== true) return false;
    const due = await turnSql.findDue.one<{ ticketId: string; project: ProjectId }>(tx);
    if (due === null) return false;
    const state = await lockReviewState(tx, due.project, due.ticketId);
    // An operator may have decided on it before its rows were locked.
    if (state === null || state.ticket.assignee !== null || state.ticket.stage !== "review") return true;
    const operator = await turnSql.takeTurn.one(tx, { project: due.project });
    if (operator === null) return false;
    const { project, status, stage, agentId } = state.ticket;
    const assignee = `operator:${operator.id}`;
    await applyDecision(tx, state, {
      action: "assign",
      actor: "service",
      ticket: { project, status, stage, assignee, agentId },
      why: "",
      data: { assignee, rule: "round-robin" },
      waiting: "stay",
      dropsDraft: false,
      interrupts: true,
      work: null,
      lessons: [],
    });
    return true;
  });
