import { ticketPrioritySchema } from "@svc/contracts";
import { ProjectNotFoundError, asProjectId } from "@svc/store";
import type { RunOutcome } from "@svc/store";
import { findDuplicates } from "../find-duplicates.ts";
import type { PossibleDuplicate } from "../find-duplicates.ts";
import { languageOf } from "../language-of.ts";
import { isSpam, move } from "../run.ts";
import type { Run, StageContext } from "../run.ts";
import { commitOutcome } from "./send-reply.ts";

const WHY = "submitted issues are always reviewed";

/**
 * Commits the result of triage in one transaction, fenced by the lease: the ticket moves to the project of the chosen
 * agent and waits there for a person, with its possible duplicates. Nothing is sent, and no draft is made. A message
 * to an issue marked as spam needs no review.
 */
export async function holdForReview(context: StageContext, run: Run): Promise<void> {
  move(run, "review", isSpam(run) ? "this issue is marked as spam" : WHY);
  if (isSpam(run)) move(run, "done", "this issue is marked as spam");
  try {
    run.hasMore = await commitOutcome(context, await outcomeOf(context, run), run.message);
  } catch (error) {
    // The next attempt chooses again.
    if (error instanceof ProjectNotFoundError) run.triage = null;
    throw error;
  }
}

async function outcomeOf({ store, readSettings }: StageContext, run: Run): Promise<RunOutcome> {
  const { message, triage, ticket } = run;
  const { ticketId, text } = message;
  const isRejected = isSpam(run);
  const language = languageOf(text);
  const target = asProjectId(triage?.project ?? ticket?.project ?? message.project);
  const duplicates = isRejected ? [] : await findDuplicates(store, target, { ticketId, text, language });
  const isMoved = target !== ticket?.project;
  const name = isMoved ? (await readSettings(target))?.project.name : undefined;
  return {
    message,
    state: isRejected ? "rejected" : "held",
    failure: null,
    stage: run.stage,
    status: isRejected ? "spam" : "open",
    agentId: triage?.agentId ?? null,
    confidence: triage?.project === undefined ? null : triage.confidence,
    language,
    moves: run.moves,
    trace: traceOf(run, duplicates, isMoved ? { project: name, projectId: target } : {}),
    replies: [],
    draft: null,
    ...(triage?.project === undefined ? {} : { route: { project: target, priority: priorityOf(run) } }),
  };
}

/** Returns the priority that the sender's severity suggests. */
function priorityOf({ message }: Run) {
  const { data } = ticketPrioritySchema.safeParse(message.channelMeta["severity"]);
  return data ?? null;
}

/** Returns the trace for the ticket's event. `projectId` is the project of this and later events. */
function traceOf({ triage, stageMs, message }: Run, possibleDuplicates: PossibleDuplicate[], route: object): object {
  return { triage, stageMs, attempts: message.attempts, possibleDuplicates, ...route };
}
