import type { Agent } from "@svc/contracts";
import type { ClaimedMessage, ClaimedReview, NewDraft, Ticket } from "@svc/store";
import type { ProjectSettings } from "../project-settings.ts";
import type { Run } from "../run.ts";
import { beginRun } from "../work-on-chat.ts";

/** One run of the pipeline for a person's decision, on the message that it answers. */
export interface ReviewRun extends Run {
  readonly review: ClaimedReview;
  /** Answers to the older messages that a draft is made for, oldest first. */
  earlier: NewDraft[];
}

/** The message that a decision answers; an empty one where it is not kept any more. */
function messageOf(review: ClaimedReview): ClaimedMessage {
  const { project, ticketId, leaseId, channelId, chatId, attempts, crashes, lapses, work } = review;
  const kept = review.message ?? { seq: 0, userId: null, text: "", channelMeta: {}, mode: null };
  const messageId = work.answers ?? ticketId;
  return {
    ...kept,
    project,
    messageId,
    ticketId,
    leaseId,
    channelId,
    chatId,
    attempts,
    crashes,
    lapses,
    hasCrashedAlone: false,
    progress: null,
    trace: null,
  };
}

/**
 * A run at its beginning. The agent that has the ticket answers, where there is one that is not switched off: triage
 * has nothing to choose then. `agent` is that agent as it is now, since settings may be some moments old.
 */
export function beginReviewRun(
  review: ClaimedReview,
  {
    ticket,
    agent,
    settings,
    signal,
  }: { ticket: Ticket; agent: Agent | null; settings: ProjectSettings; signal: AbortSignal },
): ReviewRun {
  const others = settings.agents.filter(({ id }) => id !== ticket.agentId);
  const agents = agent === null ? others : [...others, agent];
  const isChosen = agent !== null && agent.enabled;
  return {
    ...beginRun(messageOf(review), { ...settings, agents }, signal),
    review,
    earlier: [],
    ticket,
    stage: ticket.stage,
    triage: isChosen ? { agentId: agent.id, confidence: 1, why: `${agent.name} already handles this ticket` } : null,
  };
}
