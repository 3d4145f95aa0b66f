import { LIMITS, isIssueChat } from "@svc/contracts";
import { LeaseLostError, isUnavailable } from "@svc/store";
import type { ClaimedMessage, Ticket } from "@svc/store";
import { count, inSpan, observe } from "@svc/telemetry";
import { move, progressOf } from "./run.ts";
import type { Run } from "./run.ts";
import type { StageContext } from "./stage-context.ts";
import { answer } from "./stages/answer.ts";
import { formatReply } from "./stages/format-reply.ts";
import { gate } from "./stages/gate.ts";
import { heedVisitor } from "./stages/heed-visitor.ts";
import { holdForReview } from "./stages/hold-for-review.ts";
import { openTicket } from "./stages/open-ticket.ts";
import { commitOutcome, sendReply } from "./stages/send-reply.ts";
import { retrieve } from "./stages/retrieve.ts";
import { triage } from "./stages/triage.ts";
import { triageAllProjects } from "./stages/triage-all-projects.ts";

/**
 * A stage: reads the run and adds what it finds. All but the first and the last change nothing else; every one may run
 * again after a crash.
 */
export type Stage<OneRun extends Run = Run> = (context: StageContext, run: OneRun) => Promise<void>;

/** The stages that a customer's message goes through, in order. */
export const MESSAGE_STAGES: readonly Stage[] = [
  openTicket,
  heedVisitor,
  triage,
  retrieve,
  answer,
  gate,
  formatReply,
  sendReply,
];

/** The stages that a submitted issue goes through, in order: a person answers it, or nobody. */
export const ISSUE_STAGES: readonly Stage[] = [openTicket, triageAllProjects, holdForReview];

/** The stages of what came in, whichever queue has brought it. */
export const stagesOf = (message: Pick<ClaimedMessage, "channelId" | "chatId">): readonly Stage[] =>
  isIssueChat(message) ? ISSUE_STAGES : MESSAGE_STAGES;

const RETRY_BASE_MS = 1_000;

/** Wait before the next try, after so many: 1, 2, 4, 8 s. */
export function retryDelayMs(attempts: number): number {
  return RETRY_BASE_MS * 2 ** (attempts - 1);
}

/** Thrown when a run has to be given up because its lease is gone or the process stops. */
class RunAbortedError extends Error {
  constructor() {
    super("run abandoned");
    this.name = "RunAbortedError";
  }
}

/** Rejects once the run is given up. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new RunAbortedError()), { once: true });
  });
}

/**
 * Runs stages one after the other. A run that is given up is left at once, also in the middle of a stage that does not
 * end: what that stage still does changes nothing but the run.
 */
export async function runStages<OneRun extends Run>(
  context: StageContext,
  run: OneRun,
  stages: readonly Stage<OneRun>[],
): Promise<void> {
  const aborted = whenAborted(run.signal);
  for (const stage of stages) {
    if (run.signal.aborted) throw new RunAbortedError();
    const startedAt = performance.now();
    let outcome = "fault";
    try {
      await inSpan(`stage ${stage.name}`, { parent: run.trace }, () => Promise.race([stage(context, run), aborted]));
      outcome = "ok";
    } finally {
      const ms = performance.now() - startedAt;
      run.stageMs[stage.name] = Math.round(ms * 10) / 10;
      observe(
        "svc_stage_duration_seconds",
        { stage: stage.name, outcome: run.signal.aborted ? "given_up" : outcome },
        ms / 1_000,
      );
    }
  }
}

/** Why something is given up, in words for an operator. */
export function failureText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 1_000) : "unknown error";
}

/**
 * The moves of a ticket whose message is given up, and where they lead. A conversation that waits for a person keeps
 * waiting: the agent must not go on with it because a later message failed. A ticket that was never opened moves
 * nowhere.
 */
function movesOfFailure(ticket: Ticket | null, run: Run | null, failure: string): Pick<Run, "stage" | "moves"> {
  if (ticket === null || ticket.stage === "review") return { stage: ticket?.stage ?? "failed", moves: [] };
  const path = run?.ticket == null ? { stage: ticket.stage, moves: [] } : run;
  if (path !== run) move(path, "received", "message received");
  move(path, "failed", failure);
  return path;
}

/**
 * Makes a message that has used up its tries a dead letter: operators see it and can send it again. Its customer gets
 * no error; a call that waits for it is told that a person has to look. True when something came into the conversation
 * meanwhile.
 */
export async function giveUp(
  context: StageContext,
  message: ClaimedMessage,
  run: Run | null,
  failure: string,
): Promise<boolean> {
  const ticket = run?.ticket ?? (await context.store.tickets.find(message.project, message.ticketId));
  const { stage, moves } = movesOfFailure(ticket, run, failure);
  const outcome = {
    message,
    state: "failed" as const,
    failure,
    stage,
    // What an operator has marked as spam asks nobody to look again.
    status: ticket?.status === "spam" ? ("spam" as const) : ("open" as const),
    agentId: null,
    confidence: null,
    language: null,
    moves,
    trace: { attempts: message.attempts },
    replies: [],
    draft: null,
  };
  const hasMore = await commitOutcome(context, outcome, message);
  context.log.error(
    { messageId: message.messageId, ticketId: message.ticketId, failure },
    "message failed permanently; moved to dead letters",
  );
  return hasMore;
}

/** True when a fault counts as a try: the store is there, and nobody else has the conversation. */
export function isOwnFault(error: unknown): boolean {
  return !isUnavailable(error) && !(error instanceof RunAbortedError) && !(error instanceof LeaseLostError);
}

/**
 * What happens after a run threw: the message waits for its next try, or becomes a dead letter after the fifth. A
 * store that is away does not count as a try, and a run that was given up leaves everything to whoever has the lease.
 * True when there may be another message in the conversation to go on with.
 */
export async function settleFailure(
  context: StageContext,
  message: ClaimedMessage,
  run: Run | null,
  error: unknown,
): Promise<boolean> {
  const { store, log } = context;
  const isFault = isOwnFault(error);
  if (isFault && message.attempts >= LIMITS.maxAttempts) {
    return giveUp(context, message, run, failureText(error));
  }
  await store.messages.retryLater(message, {
    delayMs: isFault ? retryDelayMs(message.attempts) : 0,
    progress: run === null ? (message.progress ?? {}) : progressOf(run),
    failure: failureText(error),
    counts: isFault,
  });
  if (isFault) {
    count("svc_message_retries_total", {});
    log.warn({ error, messageId: message.messageId, attempts: message.attempts }, "message will be retried");
  }
  return false;
}
