import { LIMITS } from "@svc/contracts";
import type { SearchResult } from "@svc/knowledge";
import type { ClaimedMessage, ProjectId } from "@svc/store";
import { inSpan, traceIdOf } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";
import { createIsolation } from "./create-isolation.ts";
import type { LeaseKeeper } from "./lease-keeper.ts";
import type { ProjectSettings } from "./project-settings.ts";
import type { AgentAnswer, Run, TriageResult } from "./run.ts";
import { giveUp, runStages, stagesOf, settleFailure, whenAborted } from "./run-stages.ts";
import type { StageContext } from "./stage-context.ts";

/**
 * Makes the function that works on a conversation: it takes the lease, runs the oldest waiting message, and goes on
 * with the next one until nothing waits. Called twice for one conversation, the second call finds the lease taken or
 * nothing to do, which is what makes the jobs of `incoming-messages` and `submitted-issues` idempotent.
 */
export function createChatWorker(context: StageContext, leases: LeaseKeeper) {
  const { store, readSettings } = context;

  /** Works on a message in a span of the trace that its sender began. True when there may be another one in the conversation. */
  function handle(message: ClaimedMessage): Promise<boolean> {
    const { messageId, ticketId, channelId, attempts } = message;
    const attributes = {
      "svc.message_id": messageId,
      "svc.ticket_id": ticketId,
      "svc.channel": channelId,
      "svc.attempt": attempts,
    };
    return inSpan("process message", { parent: message.trace, kind: "consumer", attributes }, (span) => {
      const traceId = traceIdOf(span.traceparent);
      const traced = traceId === undefined ? context : { ...context, log: context.log.child({ traceId }) };
      return workOn(traced, message, span);
    });
  }

  async function workOn(context: StageContext, message: ClaimedMessage, span: Span): Promise<boolean> {
    const { log } = context;
    if (message.attempts > LIMITS.maxAttempts) {
      return giveUp(context, message, null, "its workers died while they had it");
    }
    const lease = leases.keep(message);
    let run: Run | null = null;
    try {
      // Left at once when the run is given up, also while the database lets it wait.
      const found = await Promise.race([readSettings(message.project), whenAborted(lease.signal)]);
      if (found === null) {
        return await giveUp(context, message, null, "its project no longer exists");
      }
      run = beginRun(message, found, lease.signal);
      run.trace = span.traceparent;
      lease.watch(run);
      await runStages(context, run, stagesOf(message));
      return run.hasMore;
    } catch (error) {
      span.fail(error);
      return await settleFailure(context, message, run, error).catch((settleError: unknown) => {
        // The lease runs out by itself, and the sweeper finds the message.
        log.warn({ error: settleError, messageId: message.messageId }, "a failed try could not be noted");
        return false;
      });
    } finally {
      lease.drop();
    }
  }

  const isolation = createIsolation();
  /** Conversations whose next message waits to be worked on alone. */
  const inLine = new Set<string>();

  /** Claims a message beside others and works on it, unless it has to be alone. */
  async function workBeside(project: ProjectId, ticketId: string): Promise<"done" | "more" | "alone"> {
    const message = await store.messages.claimBeside(project, ticketId);
    if (message === null) return "done";
    // One that has ended its process again is worked on while nothing else is in it, so that it takes no other with it.
    if (message === "alone") return "alone";
    return (await handle(message)) ? "more" : "done";
  }

  async function workAlone(project: ProjectId, ticketId: string, isStopping: () => boolean): Promise<"done" | "more"> {
    inLine.add(ticketId);
    try {
      return await isolation.alone(async () => {
        if (isStopping()) return "done";
        const message = await store.messages.claim(project, ticketId);
        return message !== null && (await handle(message)) ? "more" : "done";
      });
    } finally {
      inLine.delete(ticketId);
    }
  }

  return async function workOnChat(project: ProjectId, ticketId: string, isStopping: () => boolean): Promise<void> {
    while (!isStopping() && !inLine.has(ticketId)) {
      const left = await isolation.beside(() => workBeside(project, ticketId));
      if (left === "done") return;
      if (left === "alone" && (await workAlone(project, ticketId, isStopping)) === "done") return;
    }
  };
}

/** A run at its beginning, with what earlier tries have kept. */
export function beginRun(
  message: ClaimedMessage,
  { project, agents, learned }: ProjectSettings,
  signal: AbortSignal,
): Run {
  // Written by progressOf alone, in this version or an earlier one.
  const kept = (message.progress ?? {}) as { triage?: TriageResult; passages?: SearchResult; answer?: AgentAnswer };
  return {
    message,
    signal,
    project,
    agents,
    learned,
    ticket: null,
    triage: kept.triage ?? null,
    passages: kept.passages ?? null,
    answer: kept.answer ?? null,
    language: null,
    gate: null,
    replies: [],
    stage: "received",
    moves: [],
    stageMs: {},
    hasMore: false,
    trace: message.trace,
  };
}
