import { LIMITS } from "@svc/contracts";
import type { SearchResult } from "@svc/knowledge";
import { MAX_LAPSES, outlastOutage } from "@svc/store";
import type { ClaimedMessage, LeaseHistory, ProjectId, Suspect } from "@svc/store";
import { inSpan, traceIdOf } from "@svc/telemetry";
import type { Span } from "@svc/telemetry";
import type { Isolation } from "./create-isolation.ts";
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
export function createChatWorker(context: StageContext, leases: LeaseKeeper, isolation: Isolation) {
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
    const failure = explainExpiredLeases(message);
    if (failure !== null) return giveUp(context, message, null, failure);
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
      // A lease that expires only because the store was unavailable would count as a worker that was too slow.
      const settle = () => settleFailure(context, message, run, error);
      return await outlastOutage(settle, () => !lease.signal.aborted).catch((settleError: unknown) => {
        // The lease expires by itself, and the sweeper finds the message.
        log.warn({ error: settleError, messageId: message.messageId }, "failed to record a failed attempt");
        return false;
      });
    } finally {
      lease.drop();
    }
  }

  /** Conversations whose next message waits to run exclusively. */
  const inLine = new Set<string>();

  /** Claims a message that may run concurrently with others and works on it; returns a suspect if it may not. */
  async function workBeside(project: ProjectId, ticketId: string): Promise<"done" | "more" | Suspect> {
    const message = await store.messages.claimBeside(project, ticketId);
    if (message === null) return "done";
    if ("groupLimit" in message) return message;
    return (await handle(message)) ? "more" : "done";
  }

  /** Works on a suspect while nothing but other suspects runs in this process. */
  async function workExclusively(
    { project, ticketId, isStopping }: { project: ProjectId; ticketId: string; isStopping: () => boolean },
    { groupLimit }: Suspect,
  ): Promise<"done" | "more"> {
    inLine.add(ticketId);
    try {
      return await isolation.exclusively(groupLimit, async (groupSize) => {
        if (isStopping()) return "done";
        const message = await store.messages.claim(project, ticketId, groupSize);
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
      if (left === "more") continue;
      if ((await workExclusively({ project, ticketId, isStopping }, left)) === "done") return;
    }
  };
}

/** Why a message is given up because of the leases on it that expired; null while it can be tried again. */
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
    said: null,
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
