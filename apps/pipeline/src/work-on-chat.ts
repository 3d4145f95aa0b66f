import { LIMITS } from "@svc/contracts";
import type { SearchResult } from "@svc/knowledge";
import type { ClaimedMessage, ProjectId } from "@svc/store";
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
  const { store, readSettings, log } = context;

  /** True when there may be another message in the conversation. */
  async function handle(message: ClaimedMessage): Promise<boolean> {
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
      lease.watch(run);
      await runStages(context, run, stagesOf(message));
      return run.hasMore;
    } catch (error) {
      return await settleFailure(context, message, run, error).catch((settleError: unknown) => {
        // The lease runs out by itself, and the sweeper finds the message.
        log.warn({ error: settleError, messageId: message.messageId }, "a failed try could not be noted");
        return false;
      });
    } finally {
      lease.drop();
    }
  }

  return async function workOnChat(project: ProjectId, ticketId: string, isStopping: () => boolean): Promise<void> {
    while (!isStopping()) {
      const message = await store.messages.claim(project, ticketId);
      if (message === null || !(await handle(message))) return;
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
  };
}
