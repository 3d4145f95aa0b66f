import { ticketPrioritySchema } from "@svc/contracts";
import { ProjectGoneError, asProjectId } from "@svc/store";
import type { RunOutcome } from "@svc/store";
import { findDuplicates } from "../find-duplicates.ts";
import type { PossibleDuplicate } from "../find-duplicates.ts";
import { languageOf } from "../language-of.ts";
import { isSpam, move } from "../run.ts";
import type { Run, StageContext } from "../run.ts";
import { commitOutcome } from "./send-reply.ts";

const WHY = "submitted issues are always reviewed";

/**
 * Makes what triage has found real: the ticket goes to the project of the agent that was chosen and waits there for a
 * person, with the open tickets that it may double. Nothing is sent, and no draft is made. What comes in to an issue
 * that an operator has marked as spam waits for nobody. In one transaction, fenced by the lease.
 */
export async function holdForReview(context: StageContext, run: Run): Promise<void> {
  move(run, "review", isSpam(run) ? "this issue is marked as spam" : WHY);
  if (isSpam(run)) move(run, "done", "this issue is marked as spam");
  try {
    run.hasMore = await commitOutcome(context, await outcomeOf(context, run), run.message);
  } catch (error) {
    // The next attempt has to choose again.
    if (error instanceof ProjectGoneError) run.triage = null;
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

/** What its sender says of how badly it hurts. */
function priorityOf({ message }: Run) {
  const { data } = ticketPrioritySchema.safeParse(message.channelMeta["severity"]);
  return data ?? null;
}

/** For the ticket's event: `projectId` says whose events those from this one on are. */
function traceOf({ triage, stageMs, message }: Run, possibleDuplicates: PossibleDuplicate[], route: object): object {
  return { triage, stageMs, attempts: message.attempts, possibleDuplicates, ...route };
}
