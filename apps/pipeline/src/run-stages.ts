import { isIssueChat } from "@svc/contracts";
import { LeaseLostError, isUnavailable } from "@svc/store";
import type { ClaimedMessage } from "@svc/store";
import { inSpan, observe } from "@svc/telemetry";
import type { Failure } from "@svc/work";
import type { Run, StageContext, Stages } from "./run.ts";
import { answer, retrieve } from "./stages/answer.ts";
import { checkHandoffRequest, gate } from "./stages/gate.ts";
import { formatReply } from "./stages/format-reply.ts";
import { holdForReview } from "./stages/hold-for-review.ts";
import { sendReply } from "./stages/send-reply.ts";
import { triage, triageAllProjects } from "./stages/triage.ts";
import { move } from "./run.ts";

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

/** Thrown when a run is aborted because its lease is lost or the process stops. */
class RunAbortedError extends Error {
  constructor() {
    super("run abandoned");
    this.name = "RunAbortedError";
  }
}

/** Rejects once the signal is aborted. */
export function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(new RunAbortedError()), { once: true });
  });
}

/**
 * Runs stages one after the other. An aborted run ends immediately, even in the middle of a stage: what that stage
 * does afterwards only changes the run in memory.
 */
export async function runStages<OneRun extends Run>(
  context: StageContext,
  run: OneRun,
  stages: Stages<OneRun>,
): Promise<void> {
  const aborted = whenAborted(run.signal);
  for (const [name, stage] of Object.entries(stages)) {
    if (run.signal.aborted) throw new RunAbortedError();
    const startedAt = performance.now();
    let outcome = "fault";
    try {
      await inSpan(`stage ${name}`, { parent: run.trace }, () => Promise.race([stage(context, run), aborted]));
      outcome = "ok";
    } finally {
      const ms = performance.now() - startedAt;
      run.stageMs[name] = Math.round(ms * 10) / 10;
      const labels = { stage: name, outcome: run.signal.aborted ? "given_up" : outcome };
      observe("svc_stage_duration_seconds", labels, ms / 1_000);
    }
  }
}

/** Returns why work failed, in words for an operator. */
export function failureText(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}`.slice(0, 1_000) : "unknown error";
}

/** Classifies the error of a run. It counts as an attempt unless the store is unavailable or another process has the conversation. */
export function judgeRunError(error: unknown, attempts: number): Failure {
  const isOwn = !isUnavailable(error) && !(error instanceof RunAbortedError) && !(error instanceof LeaseLostError);
  return isOwn ? { counts: true, reason: failureText(error), attempts } : { counts: false, delayMs: 0 };
}
