import { HISTORY_LIMIT } from "@svc/agents";
import { LIMITS, isIssueChat } from "@svc/contracts";
import type { IncomingJob } from "@svc/contracts";
import type { Log } from "@svc/log";
import { createGate } from "@svc/primitives";
import { announceWork, jobsOf } from "@svc/queue";
import { MAX_LAPSES, asProjectId, LEASE_MS } from "@svc/store";
import type { ClaimedChat, ClaimedMessage, LeaseHistory, ProjectId, Ticket, LeaseRef, Store } from "@svc/store";
import { count, inSpan, traceIdOf } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";
import { defineWork, limitPerProject, createLeaseManager } from "@svc/work";
import type { ClaimContext, FailurePolicy, HeldLease, LeaseManager, Work } from "@svc/work";
import type { Isolation } from "./isolation.ts";
import { beginRun, failureText, judgeRunError, move, progressOf, runStages, whenAborted } from "./run.ts";
import type { Run, StageContext, Stages } from "./run.ts";
import { answer, retrieve, triage } from "./stages/answer.ts";
import { checkHandoffRequest, gate } from "./stages/gate.ts";
import { holdForReview, triageAllProjects } from "./stages/hold-for-review.ts";
import { commitOutcome, formatReply, sendReply } from "./stages/send-reply.ts";

/**
 * Opens the ticket of the conversation, or adds the message to it, unless the claim has done so. A ticket that was
 * moved to another project uses the agents and settings of that project. Idempotent: a retry finds the open ticket.
 */
async function openTicket({ store, readSettings }: StageContext, run: Run): Promise<void> {
  const ticket = run.ticket ?? (await store.tickets.open(run.message.project, run.message));
  if (ticket.project !== run.project.id) {
    const found = await readSettings(ticket.project);
    if (found === null) throw new Error("the project that the ticket was moved to no longer exists");
    Object.assign(run, found);
  }
  run.ticket = ticket;
  run.stage = ticket.stage;
  move(run, "received", "message received");
}

/** The stages of a customer's message, in order. */
export const MESSAGE_STAGES: Stages = {
  openTicket,
  heedVisitor: checkHandoffRequest,
  triage,
  retrieve,
  answer,
  gate,
  formatReply,
  sendReply,
};

/** The stages of a submitted issue, in order: only a person replies to it. */
export const ISSUE_STAGES: Stages = { openTicket, triageAllProjects, holdForReview };

/** Returns the stages of an incoming message, whichever queue announced it. */
export const stagesOf = (message: Pick<ClaimedMessage, "channelId" | "chatId">): Stages =>
  isIssueChat(message) ? ISSUE_STAGES : MESSAGE_STAGES;

const RENEW_MS = 1_000;

/** Work on a conversation under its lease. */
interface ChatClaim extends LeaseRef {
  /** A run whose findings are stored while it lasts; null before it starts. Absent for a decision, which stores none. */
  run?: Run | null;
  /** How many of its stages have stored their findings; absent before the first renewal. */
  storedStages?: number;
}

/** Renews the leases of conversations, for messages and decisions alike. */
export type ChatLeases = LeaseManager<ChatClaim>;

/**
 * Creates the manager of the leases of conversations. From the second renewal of a lease on, it stores what its run has
 * found.
 */
export function createChatLeases({ store, log }: { store: Store; log: Log }): ChatLeases {
  async function storeProgress(claim: ChatClaim): Promise<void> {
    if (claim.run == null) return;
    // One timer renews all leases, so the first renewal may follow a claim at once. Most runs end before the second one.
    if (claim.storedStages === undefined) {
      claim.storedStages = 0;
      return;
    }
    const progress = progressOf(claim.run);
    const stages = Object.keys(progress).length;
    if (stages === claim.storedStages) return;
    await store.chats.saveProgress(claim.project, claim.run.message.messageId, claim.leaseId, progress);
    claim.storedStages = stages;
  }

  return createLeaseManager<ChatClaim>(log, {
    name: "conversations",
    ms: LEASE_MS,
    renewMs: RENEW_MS,
    renew: (claims) => store.chats.renewLeases([...claims]),
    async onRenewed(claims) {
      for (const claim of claims) await storeProgress(claim);
    },
    onExpired({ ticketId }, lateMs) {
      count("svc_lease_lapses_total", {});
      log.warn(
        { ticketId, lateMs: Math.round(lateMs) },
        "lease expired before it was renewed; another process has taken over the conversation",
      );
    },
  });
}

/** Conversations that are processed concurrently, however many the jobs of this process announce. */
const CONCURRENCY = 100;
/**
 * A language model takes seconds for what takes milliseconds without: with one, as many jobs are fetched, and this many
 * conversations of one project are processed concurrently.
 */
const MODEL_CONCURRENCY_PER_PROJECT = 25;
/** No caller waits long for an issue; customers' messages go first. */
const ISSUE_CONCURRENCY = 2;
/** Delays after the first, second, third and fourth attempt. */
export const RETRY_DELAYS_MS = [1_000, 2_000, 4_000, 8_000];
const SWEEP_LIMIT = 1_000;

/** Time that running messages and decisions get during shutdown; after that they are released for another process. */
export const CHAT_SHUTDOWN = { abortAfterMs: 5_000, deadlineMs: 5_000 };

/** A conversation. */
export interface Chat {
  project: ProjectId;
  ticketId: string;
  /** Of its message behind the backlog of its project; absent or 0 if there is none. */
  priority?: number;
}

/** Returns the conversations of a job's messages, each once. */
function chatsOf(job: IncomingJob): Chat[] {
  const chats = new Map<string, Chat>();
  for (const { project, ticketId, priority = 0 } of jobsOf(job)) {
    // The first message of a chat has the lowest value.
    if (!chats.has(ticketId)) chats.set(ticketId, { project: asProjectId(project), ticketId, priority });
  }
  return [...chats.values()];
}

/** A message that this process works on. */
interface MessageClaim extends ChatClaim {
  message: ClaimedChat;
  span: Span;
  /** Names the trace in each line. */
  log: Log;
  run: Run | null;
}

/** Runs the stages of a message, the last of which commits its outcome. True if another one of the conversation waits. */
async function run(context: StageContext, claim: MessageClaim, { signal }: HeldLease): Promise<boolean> {
  const { message, span } = claim;
  try {
    // Ends at once when the run is aborted, also while the database is slow.
    const settings = await Promise.race([context.readSettings(message.project), whenAborted(signal)]);
    if (settings === null) return await giveUp(context, claim, "its project no longer exists");
    claim.run = beginRun(message, settings, signal, message.opened);
    claim.run.trace = span.traceparent;
    await runStages({ ...context, log: claim.log }, claim.run, stagesOf(message));
    return claim.run.hasMore;
  } catch (error) {
    span.fail(error);
    throw error;
  }
}

/** Announces the messages and issues that are due and have no job. */
async function announceDue({ store, queues, log }: StageContext): Promise<void> {
  const due = await store.messages.claimDue(SWEEP_LIMIT);
  const issues = due.filter(({ isIssue }) => isIssue);
  const messages = due.filter(({ isIssue }) => !isIssue);
  await announceWork(queues, "incoming-messages", messages);
  await announceWork(queues, "submitted-issues", issues);
  if (due.length > 0) log.debug({ count: due.length }, "waiting messages announced again");
}

/** Returns the policy for messages whose processing fails. */
function failuresOf(context: StageContext): FailurePolicy<MessageClaim> {
  return {
    maxAttempts: LIMITS.maxAttempts,
    retry: RETRY_DELAYS_MS,
    explainExpiredLeases: ({ message }) => explainExpiredLeases(message),
    judge: (error, { message }) => judgeRunError(error, message.attempts),
    async retryLater({ message, run: known, log: traced }, { delayMs, counts, error }) {
      const progress = known === null ? (message.progress ?? {}) : progressOf(known);
      await context.store.messages.retryLater(message, { delayMs, progress, failure: failureText(error), counts });
      if (!counts) return;
      count("svc_message_retries_total", {});
      traced.warn({ error, messageId: message.messageId, attempts: message.attempts }, "message will be retried");
    },
    giveUp: (claim, reason) => giveUp(context, claim, reason),
    facts: ({ message }) => ({ messageId: message.messageId }),
  };
}

/**
 * Defines the work on conversations: the oldest waiting message, then the next one until none waits. Messages and submitted
 * issues come by queues of their own and share everything else.
 */
export async function processMessages(
  context: StageContext,
  { leases, isolation }: { leases: ChatLeases; isolation: Isolation },
): Promise<Work<Chat>> {
  const { store, queues, log, models } = context;
  const hasModels = ((await models?.config()) ?? null) !== null;
  // A first model that is set while the process runs is used at once, with the concurrency of a process without one.
  const slots = createGate(CONCURRENCY);
  const limit = (process: (chat: Chat) => Promise<void>) => {
    const gated = (chat: Chat) => slots(() => process(chat), chat.priority);
    return hasModels ? limitPerProject(gated, MODEL_CONCURRENCY_PER_PROJECT) : gated;
  };

  const work = defineWork(
    { queues, log },
    {
      name: "waiting messages",
      consumes: [
        { queue: "incoming-messages", limit, ...(hasModels ? { concurrency: CONCURRENCY } : {}) },
        { queue: "submitted-issues", concurrency: ISSUE_CONCURRENCY },
      ],
      targets: chatsOf,
      leases,
      claim: createMessageClaims(context, isolation),
      run: (claim, lease) => run(context, claim, lease),
      failures: failuresOf(context),
      due: { isDue: async () => (await store.dueWork.find()).messages, run: () => announceDue(context) },
      shutdown: CHAT_SHUTDOWN,
    },
  );
  return {
    ...work,
    setShare(share) {
      work.setShare(share);
      // A job may announce several conversations.
      slots.resize(CONCURRENCY * share);
    },
  };
}

/**
 * Returns the function that claims the next message of a conversation: one that may run concurrently with others, or a
 * suspect, once nothing but other suspects runs in this process.
 */
function createMessageClaims({ store, log }: StageContext, isolation: Isolation) {
  /** Conversations whose next message waits to run exclusively. */
  const waiting = new Set<string>();

  /** Handles a message in a span of the trace that its sender began. */
  function handleInSpan(message: ClaimedChat, { handle }: ClaimContext<MessageClaim>): Promise<boolean> {
    const { project, messageId, ticketId, leaseId, channelId, attempts } = message;
    const attributes = {
      "svc.message_id": messageId,
      "svc.ticket_id": ticketId,
      "svc.channel": channelId,
      "svc.attempt": attempts,
    };
    return inSpan("process message", { parent: message.trace, kind: "consumer", attributes }, (span) => {
      const traceId = traceIdOf(span.traceparent);
      const traced = traceId === undefined ? log : log.child({ traceId });
      const { openError: error } = message;
      if (error !== undefined) traced.warn({ error, messageId, ticketId }, "the claim could not open the ticket");
      return handle({ project, ticketId, leaseId, message, span, log: traced, run: null });
    });
  }

  return async ({ project, ticketId }: Chat, claims: ClaimContext<MessageClaim>): Promise<boolean> => {
    if (waiting.has(ticketId)) return false;
    const found = await isolation.runShared(async () => {
      const message = await store.messages.claimConcurrently(project, ticketId, HISTORY_LIMIT);
      if (message === null) return false;
      return "groupLimit" in message ? message : handleInSpan(message, claims);
    });
    if (typeof found === "boolean") return found;
    waiting.add(ticketId);
    try {
      return await isolation.runExclusive(found.groupLimit, async (groupSize) => {
        if (claims.isDraining()) return false;
        const message = await store.messages.claim(project, ticketId, groupSize);
        return message !== null && (await handleInSpan(message, claims));
      });
    } finally {
      waiting.delete(ticketId);
    }
  };
}

/** Returns why a message is given up because of the leases on it that expired; null if it can be attempted. */
export function explainExpiredLeases({
  crashes,
  lapses,
  hasCrashedAlone,
}: LeaseHistory & Pick<ClaimedMessage, "hasCrashedAlone">): string | null {
  if (crashes >= LIMITS.maxAttempts && hasCrashedAlone) {
    return `its worker process crashed ${crashes} times, the last time while processing nothing else`;
  }
  if (lapses < MAX_LAPSES) return null;
  return `its lease expired ${lapses} times while its worker was running: the workers are overloaded, or processing takes too long`;
}

/**
 * Returns the moves of a ticket whose message is given up, and its final stage. A conversation that waits for a
 * person keeps waiting: the agent must not continue it because a later message failed. A ticket that was never opened
 * does not move.
 */
function movesOfFailure(ticket: Ticket | null, run: Run | null, failure: string): Pick<Run, "stage" | "moves"> {
  if (ticket === null || ticket.stage === "review") return { stage: ticket?.stage ?? "failed", moves: [] };
  const path = run?.ticket == null ? { stage: ticket.stage, moves: [] } : run;
  if (path !== run) move(path, "received", "message received");
  move(path, "failed", failure);
  return path;
}

/**
 * Makes a message that has used up its attempts a dead letter, which operators see and can retry. Its customer gets
 * no error; a waiting call is notified that a person will look at it. Returns true if another message of the
 * conversation waits.
 */
async function giveUp(context: StageContext, { message, run, log }: MessageClaim, failure: string): Promise<boolean> {
  const ticket = run?.ticket ?? (await context.store.tickets.find(message.project, message.ticketId));
  const { stage, moves } = movesOfFailure(ticket, run, failure);
  const outcome = {
    message,
    state: "failed" as const,
    failure,
    stage,
    // Nothing is to be reviewed in a conversation that an operator has marked as spam.
    status: ticket?.status === "spam" ? ("spam" as const) : ("open" as const),
    agentId: null,
    confidence: null,
    language: null,
    moves,
    trace: { attempts: message.attempts },
    replies: [],
    draft: null,
  };
  const hasMore = await commitOutcome({ ...context, log }, outcome, message);
  const { messageId, ticketId } = message;
  log.error({ messageId, ticketId, failure }, "message failed permanently; moved to dead letters");
  return hasMore;
}
